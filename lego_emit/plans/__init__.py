"""Plans that move a tile between registers, as data: movement/ makes them, printers spell them."""

program main
  use tiled_mod, only: tiled_apply
  implicit none
  print '(i0)', tiled_apply(1, 2, 0, 3)
end program main

from lego_emit import catalogue


def catalogue_blis_panel_a(M, K):
    return catalogue["blis.panel_a"](M, K, 6)


sizes = {"M": 14, "K": 3}

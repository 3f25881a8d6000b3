from lego_emit import catalogue


def catalogue_nchw16c(N, C, H, W):
    return catalogue["onednn.nChw16c"](N, C, H, W)


sizes = {"N": 2, "C": 20, "H": 3, "W": 2}

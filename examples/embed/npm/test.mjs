import { tiled_apply } from "tiled-matrix";

console.log(String(tiled_apply(1, 2, 0, 3)));

import { tiledApply } from "tiled-matrix";

console.log(String(tiledApply(1, 2, 0, 3)));

module TiledMatrix

include("tiled.jl")
using .Tiled: tiled_apply

export tiled_apply

end

// The bodies of tiles: a translation unit of lathe::compiled.
#pragma once

#include <lathe/lower/tiles/place_tiles.ipp>
#include <lathe/lower/tiles/tile_config.ipp>
#include <lathe/lower/tiles/tile_place.ipp>

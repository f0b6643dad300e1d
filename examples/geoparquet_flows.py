"""Flows of a release as GeoParquet, for QGIS, DuckDB or geopandas."""

import pyarrow.parquet as pq
from simulated_release import simulated_release

path = simulated_release().export("flows.geoparquet", overwrite=True)
print(pq.read_table(path, columns=["origin", "destination", "count"]).slice(0, 5).to_pylist())

# With geopandas installed: geopandas.read_parquet("flows.geoparquet").plot(linewidth=0.1)

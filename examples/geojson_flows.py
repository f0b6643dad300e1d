"""Flows of a release as GeoJSON: drop the file on any web map."""

from simulated_release import simulated_release

release = simulated_release()
features = release.flows_geojson("origin-destination")["features"]
largest = max(features, key=lambda feature: feature["properties"]["count"])
print(largest["properties"], largest["geometry"]["coordinates"])
print(release.export("flows.geojson", flows="origin-destination", overwrite=True))

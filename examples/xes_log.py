"""A release as an XES event log: what process mining calls traces are our trajectories."""

from simulated_release import simulated_release

path = simulated_release().export("log.xes", overwrite=True)
print(path.stat().st_size, "bytes")

# With pm4py installed: pm4py.discover_dfg(pm4py.read_xes("log.xes"))

"""Running the tasks of an experiment: here, in other processes, on a cluster; and going on."""

"""Simulates a cascade and prints the string that got the most light."""
import sys
import icestream
import numpy
hits = icestream.run(sys.argv[1] if len(sys.argv) > 1 else None)
light = numpy.bincount(hits["string"], hits["weight"])
print("string %d: %.6g photons of %d hits" % (light.argmax(), light.max(), len(hits)))

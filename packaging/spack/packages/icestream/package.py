# spack repo add packaging/spack; spack dev-build icestream@0.3.0 in the root of the sources
from spack.package import *


class Icestream(CMakePackage, CudaPackage):
    """Carries photons through glacial ice or sea water to the modules of neutrino telescopes, on GPUs and CPUs."""

    license("BSD-2-Clause")

    version("0.3.0")

    variant("assimp", default=True, description="Read meshes of modules")
    variant("http", default=True, description="Serve metrics over HTTP")
    variant("queue", default=False, description="Take step files from Redis or Valkey")
    variant("systemd", default=False, description="Notify systemd")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("isa-l")
    depends_on("jansson")
    depends_on("libuv")
    depends_on("libyaml")
    depends_on("openssl")
    depends_on("assimp", when="+assimp")
    depends_on("libmicrohttpd", when="+http")
    depends_on("hiredis", when="+queue")
    depends_on("systemd", when="+systemd")
    depends_on("cuda@13:", when="+cuda")

    generator("ninja")

    def cmake_args(self):
        arguments = [
            self.define("ICESTREAM_TESTS", self.run_tests),
            self.define_from_variant("ICESTREAM_CUDA", "cuda"),
            self.define_from_variant("ICESTREAM_ASSIMP", "assimp"),
            self.define_from_variant("ICESTREAM_METRICS_HTTP", "http"),
            self.define_from_variant("ICESTREAM_QUEUE", "queue"),
            self.define_from_variant("ICESTREAM_SYSTEMD", "systemd"),
        ]
        architectures = self.spec.variants["cuda_arch"].value if self.spec.satisfies("+cuda") else ()
        if architectures and architectures[0] != "none":
            arguments.append(self.define("CMAKE_CUDA_ARCHITECTURES", architectures))
        return arguments

    def test_version(self):
        """the installed program tells its version"""
        icestream = which(join_path(self.prefix.bin, "icestream"))
        assert "icestream {0}".format(self.version) in icestream("--version", output=str.split, error=str.split)

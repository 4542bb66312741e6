// The bundle of the command line contains its dependencies, so the published package has none.
module.exports = {
  hooks: {
    beforePacking(manifest) {
      if (manifest.name === '@belfry/cli') delete manifest.dependencies
      return manifest
    },
  },
}

type Package = { SPDXID: string; name: string; versionInfo: string; licenseDeclared: string }
type Relationship = { spdxElementId: string; relationshipType: string; relatedSpdxElement: string }

export function makeSbom(version: string): Promise<{
  spdxVersion: string
  dataLicense: string
  SPDXID: string
  packages: Package[]
  relationships: Relationship[]
}>

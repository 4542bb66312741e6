// Lists the npm packages in the programs of Belfry as an SBOM in SPDX 2.3.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, stop } from 'esbuild'
import { build as buildWithVite } from 'vite'
import { bundleOptions } from './bundle.mjs'
import { isProgram } from './is-program.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const programs = ['prisma', 'programs/cli', 'programs/launcher', 'programs/maintenance', 'programs/all-in-one']

/** Returns the SBOM: the packages whose files are in a bundle, and those beside the bundles. */
export async function makeSbom(version) {
  const packages = new Map()
  const add = manifest => packages.set(`${manifest.name}@${manifest.version}`, manifest)
  for (const program of programs) for (const manifest of await bundled(program)) add(manifest)
  for (const manifest of beside()) add(manifest)
  for (const manifest of await ofDashboard()) add(manifest)
  const sorted = [...packages.keys()].sort().map(key => packages.get(key))
  const digest = createHash('sha256').update(JSON.stringify(sorted)).digest('hex')
  const own = { ...element({ name: 'belfry', version, license: 'MIT' }), primaryPackagePurpose: 'APPLICATION' }
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `belfry-${version}`,
    documentNamespace: `https://spdx.org/spdxdocs/belfry-${version}-${digest}`,
    creationInfo: { created: commitTime(), creators: ['Organization: Belfry', 'Tool: make-sbom.mjs'] },
    packages: [own, ...sorted.map(element)],
    relationships: [
      relationship('SPDXRef-DOCUMENT', 'DESCRIBES', own.SPDXID),
      ...sorted.map(manifest => relationship(own.SPDXID, 'CONTAINS', element(manifest).SPDXID)),
    ],
  }
}

async function bundled(folder) {
  const { metafile } = await build({ ...bundleOptions(folder), metafile: true, write: false })
  await stop()
  const paths = Object.keys(metafile.inputs).filter(path => path.includes('node_modules/'))
  return manifestsOf(paths.map(path => join(root, folder, path)))
}

// Native packages, which are copied as they are.
function beside() {
  const own = JSON.parse(readFileSync(join(root, 'programs/belfry/package.json'), 'utf8'))
  const names = Object.keys({ ...own.dependencies, ...own.optionalDependencies })
  const folders = names.map(name => join(root, 'programs/belfry/node_modules', name)).filter(path => existsSync(path))
  const found = folders.map(folder => join(realpathSync(folder), 'package.json'))
  return manifestsOf([...found, ...found.flatMap(nativeVariants)])
}

// Only the variant of this platform is installed, beside the package that needs it.
function nativeVariants(file) {
  const { optionalDependencies = {} } = JSON.parse(readFileSync(file, 'utf8'))
  const modules = file.slice(0, file.lastIndexOf('/node_modules/') + '/node_modules'.length)
  const paths = Object.keys(optionalDependencies).map(name => join(modules, name, 'package.json'))
  return paths.filter(path => existsSync(path))
}

async function ofDashboard() {
  const dashboard = join(root, 'packages/dashboard')
  const { output } = await buildWithVite({
    ...{ root: dashboard, configFile: join(dashboard, 'vite.config.ts') },
    ...{ build: { write: false }, logLevel: 'silent' },
  })
  const paths = output.flatMap(({ moduleIds = [], originalFileNames = [] }) => [...moduleIds, ...originalFileNames])
  return manifestsOf(paths.filter(path => path.includes('node_modules/')).map(path => resolve(dashboard, path)))
}

function manifestsOf(files) {
  const folders = new Set(files.map(packageFolder))
  const manifests = [...folders].map(folder => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
  return manifests.map(({ name, version, license }) => ({ name, version, license }))
}

// The nearest folder below node_modules whose manifest has a name and a version.
function packageFolder(file) {
  const [, head, name] = /^(.*\/node_modules\/)((?:@[^/]+\/)?[^/]+)/.exec(file) ?? []
  if (!head) throw new Error(`${file} belongs to no package.`)
  return join(head, name)
}

function element({ name, version, license }) {
  return {
    SPDXID: `SPDXRef-${`${name}-${version}`.replace(/[^A-Za-z0-9.]+/g, '-').replace(/^-/, '')}`,
    name,
    versionInfo: version,
    downloadLocation:
      name === 'belfry'
        ? 'NOASSERTION'
        : `https://registry.npmjs.org/${name}/-/${name.split('/').at(-1)}-${version}.tgz`,
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: isSpdx(license) ? license : 'NOASSERTION',
    copyrightText: 'NOASSERTION',
    externalRefs: [
      {
        referenceCategory: 'PACKAGE-MANAGER',
        referenceType: 'purl',
        referenceLocator: `pkg:npm/${name.replace('@', '%40')}@${version}`,
      },
    ],
  }
}

function isSpdx(license) {
  return (
    typeof license === 'string' &&
    /^[A-Za-z0-9.+-]+( (OR|AND) [A-Za-z0-9.+-]+)*$/.test(license.replace(/[()]/g, '')) &&
    !/^(UNLICENSED|SEE)/.test(license)
  )
}

function relationship(from, relationshipType, to) {
  return { spdxElementId: from, relationshipType, relatedSpdxElement: to }
}

// A fixed time, so the same commit gives the same file.
function commitTime() {
  const seconds = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' })
  return new Date(Number(seconds) * 1000).toISOString().replace('.000', '')
}

if (isProgram(import.meta.url)) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  console.log(JSON.stringify(await makeSbom(version), null, 2))
}

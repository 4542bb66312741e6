// Makes every artefact of a release that needs no Docker engine, below a new folder: `node scripts/make-release.mjs <folder>`.
// Needs helm, Go, GNU tar, and for the Python package `python3 -m build`. `docs/releasing.md` lists the artefacts.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assemble } from './assemble.mjs'
import { bundleAll } from './bundle.mjs'
import { isProgram } from './is-program.mjs'
import { makeSbom } from './make-sbom.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Makes the artefacts, and returns their names, sizes in bytes and SHA-256 digests. */
export async function makeRelease(folder) {
  mkdirSync(folder, { recursive: true })
  const work = mkdtempSync(join(tmpdir(), 'belfry-release-'))
  try {
    await bundleAll()
    packImages(folder, work)
    packPackages(folder, work)
    packChart(folder, work)
    packPython(folder)
    packProvider(folder)
    packSite(folder)
    writeFileSync(join(folder, `belfry-${version}.spdx.json`), JSON.stringify(await makeSbom(version), null, 2))
  } finally {
    execFileSync('chmod', ['-R', 'u+w', work])
    rmSync(work, { recursive: true, force: true })
  }
  const artefacts = readdirSync(folder)
    .sort()
    .map(name => {
      const content = readFileSync(join(folder, name))
      return {
        name,
        bytes: statSync(join(folder, name)).size,
        sha256: createHash('sha256').update(content).digest('hex'),
      }
    })
  writeFileSync(join(folder, 'SHA256SUMS'), artefacts.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''))
  return artefacts
}

// The files that each image adds to its base image. The images themselves come from the Dockerfile.
function packImages(folder, work) {
  assemble(join(work, 'images'))
  for (const name of readdirSync(join(work, 'images')))
    packFolder(join(work, 'images', name), '.', join(folder, `belfry-${name}-files-${version}-${process.arch}.tar.gz`))
}

// pnpm writes the published fields into the manifests, which npm does not. It writes dependencies in the order in which it
// resolved them, which differs between two runs.
function packPackages(folder, work) {
  for (const published of ['packages/client', 'packages/once', 'programs/cli', 'programs/belfry', 'packages/testing']) {
    const packed = join(work, 'packed', published)
    run(join(root, 'node_modules/.bin/pnpm'), ['pack', '--pack-destination', packed], join(root, published))
    const [tarball] = readdirSync(packed)
    run('tar', ['-xzf', tarball], packed)
    const manifest = join(packed, 'package/package.json')
    const fields = Object.entries(JSON.parse(readFileSync(manifest, 'utf8')))
    const sorted = fields.map(([field, value]) => [field, /dependencies$/i.test(field) ? sortKeys(value) : value])
    const described = { ...Object.fromEntries(sorted), ...sourceOf(published) }
    writeFileSync(manifest, `${JSON.stringify(described, null, 2)}\n`)
    packFolder(packed, 'package', join(folder, tarball))
  }
}

/**
 * Returns the fields of a manifest that name the repository, in a workflow of GitHub. A fork names itself: npm refuses a package whose
 * provenance names another repository.
 */
export function sourceOf(directory, { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env) {
  if (!GITHUB_REPOSITORY) return {}
  const url = `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`
  const repository = { type: 'git', url: `git+${url}.git`, directory }
  return { repository, homepage: `${url}#readme`, bugs: { url: `${url}/issues` } }
}

function sortKeys(object) {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))
}

// Helm stores the time of the packaging, which would change the digest.
function packChart(folder, work) {
  run('helm', ['package', join(root, 'k8s/chart'), '--destination', work], root)
  const name = `belfry-${version}.tgz`
  mkdirSync(join(work, 'chart'))
  run('tar', ['--warning=no-timestamp', '-xzf', join(work, name), '-C', join(work, 'chart')], work)
  packFolder(join(work, 'chart'), 'belfry', join(folder, `belfry-chart-${version}.tgz`))
}

function packPython(folder) {
  run('python3', ['-m', 'build', '--no-isolation', '--outdir', folder, join(root, 'clients/python')], root)
}

function packProvider(folder) {
  run('go', ['run', './release', '-version', version, '-out', folder], join(root, 'clients/terraform'))
}

function packSite(folder) {
  run(process.execPath, [join(root, 'site/build.mjs')], root)
  packFolder(join(root, 'site/dist'), '.', join(folder, `belfry-docs-${version}.tar.gz`))
}

// In a fixed order, without times and owners, so the same files have the same digest.
function packFolder(from, entry, to) {
  const fixed = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--format=gnu']
  const archive = execFileSync('tar', [...fixed, '-C', from, '-cf', '-', entry], { maxBuffer: 2 ** 30 })
  writeFileSync(to, execFileSync('gzip', ['-9', '-n'], { input: archive, maxBuffer: 2 ** 30 }))
}

function run(program, args, cwd) {
  execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}

if (isProgram(import.meta.url)) {
  const artefacts = await makeRelease(resolve(process.argv[2]))
  for (const { name, bytes, sha256 } of artefacts)
    console.log(`| \`${name}\` | ${(bytes / 1e6).toFixed(2)} MB | \`${sha256.slice(0, 12)}\` |`)
}

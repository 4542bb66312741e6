import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { repositoryRoot } from './repository-root.ts'

const read = (path: string) => readFileSync(join(repositoryRoot(), path), 'utf8')
const { version } = JSON.parse(read('package.json')) as { version: string }

const manifest = /belfry-\w+:([\w.-]+)/g

/** The other places of the version number. */
const places: Record<string, RegExp> = {
  'clients/python/pyproject.toml': /^version = "([^"]+)"/gm,
  'docs/cli.md': /belfry-cli-(\d[\w.-]*)\.tgz/g,
  'docs/client.md': /belfry-client-(\d[\w.-]*)\.tgz/g,
  'docs/receiving.md': /belfry-client-(\d[\w.-]*)\.tgz/g,
  Dockerfile: /image\.version="([^"]+)"/g,
  'docs/exactly-once.md': /belfry-once-(\d[\w.-]*)\.tgz/g,
  'docs/quick-start.md': /belfry-client-(\d[\w.-]*)\.tgz/g,
  'docs/self-hosting.md': /belfry-[$\w-]+:(\d[\w.-]*\w)/g,
  'k8s/README.md': /belfry-api:([\w.-]+)/g,
  'k8s/manifests/default.yaml': manifest,
  'k8s/manifests/hpa.yaml': manifest,
  'k8s/manifests/keda.yaml': manifest,
  'k8s/manifests/trial.yaml': manifest,
  'programs/cli/README.md': /belfry-cli-(\d[\w.-]*)\.tgz/g,
  'packages/client/README.md': /belfry-client-(\d[\w.-]*)\.tgz/g,
  'packages/client/src/http.ts': /version = '([^']+)'/g,
  'packages/domain/src/version.ts': /version = '([^']+)'/g,
}

describe('the version number of Belfry', () => {
  it('is the same in every package', () => {
    const manifests = execFileSync('git', ['ls-files', '*package.json'], { cwd: repositoryRoot(), encoding: 'utf8' })
    const versions = manifests
      .trim()
      .split('\n')
      .map(path => [path, JSON.parse(read(path)).version])
    expect(versions.length).toBeGreaterThan(15)
    expect(versions.filter(([, written]) => written !== version)).toEqual([])
  })

  it.each(Object.entries(places))('is the same in %s', (path, pattern) => {
    const written = [...read(path).matchAll(pattern)].map(match => match[1])
    expect(new Set(written)).toEqual(new Set([version]))
  })

  it('is that of the Terraform provider, without the part of a version in development', () => {
    // Terraform installs no pre-release that a configuration does not name.
    const [, written] = /-version ([\d.]+)/.exec(read('docs/terraform.md')) ?? []
    expect(written).toBe(version.replace(/-dev$/, ''))
  })

  it('appears nowhere else in the programs', () => {
    const literal = `['"/]${version.replaceAll('.', '\\.')}['"]`
    const found = execFileSync(
      'git',
      ['grep', '--untracked', '-lE', literal, '--', '*/src/*.ts', '*/src/*.tsx', ':!*.test.ts'],
      {
        cwd: repositoryRoot(),
        encoding: 'utf8',
      },
    )
    expect(found.trim().split('\n').sort()).toEqual(Object.keys(places).filter(path => path.endsWith('.ts')))
  })
})

it('Prisma generates the client with the version of the client', () => {
  const { catalog } = parse(read('pnpm-workspace.yaml'))
  const names = ['@prisma/adapter-pg', '@prisma/client', '@prisma/driver-adapter-utils', 'prisma']
  expect(new Set(names.map(name => catalog[name])).size).toBe(1)
})

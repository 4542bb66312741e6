import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
// @boundaries-ignore the script belongs to the repository, not to a package
import { sourceOf } from '../../scripts/make-release.mjs'
// @boundaries-ignore the script belongs to the repository, not to a package
import { findReleaseProblems, notesOf } from '../../scripts/release-notes.mjs'
import { repositoryRoot } from '../repository-root.ts'
import { readImages } from './read-dockerfile.ts'
import { hasGoTool } from './tools.ts'

type Step = { uses?: string; run?: string; with?: Record<string, string> }
type Job = {
  uses?: string
  if?: string
  needs?: string[]
  environment?: string | { name: string }
  permissions?: Record<string, string>
  strategy?: { matrix: { target?: string[]; part?: number[] } }
  steps?: Step[]
}
type Workflow = { permissions: Record<string, string>; jobs: Record<string, Job> }

const github = join(repositoryRoot(), '.github')
const workflow = (name: string): Workflow => parse(readFileSync(join(github, 'workflows', name), 'utf8'))
const stepsOf = (job: Job | undefined) => job?.steps ?? []

describe('the workflows', () => {
  it.runIf(hasGoTool('actionlint', ['-version']))('pass actionlint, which finds a misspelt input', () => {
    // It knows the inputs of an action by its version, not by a digest.
    const withVersions = (text: string) => text.replace(/@[0-9a-f]{40} # (v\d+)\S+/g, '@$1')
    const lint = (name: string, text: string) => {
      const args = ['-no-color', '-stdin-filename', join('.github/workflows', name), '-']
      return spawnSync('actionlint', args, { cwd: repositoryRoot(), input: withVersions(text), encoding: 'utf8' })
    }
    for (const name of readdirSync(join(github, 'workflows'))) {
      const { stdout, status } = lint(name, readFileSync(join(github, 'workflows', name), 'utf8'))
      expect([name, stdout, status]).toEqual([name, '', 0])
    }
    const page = readFileSync(join(repositoryRoot(), 'docs/ci.md'), 'utf8')
    const example = /```yaml\n(name: .*?)```/s.exec(page)?.[1] ?? ''
    expect(lint('example.yml', example)).toMatchObject({ stdout: '', status: 0 })
    expect(example).toContain('id-token: write')
    const wrong = readFileSync(join(github, 'workflows/ci.yml'), 'utf8').replace('fetch-depth', 'fetch-dept')
    expect(lint('ci.yml', wrong).stdout).toContain('"fetch-dept" is not defined')
  })

  it('run .ci/run and every part of all tests, with the history that the upgrade test reads', () => {
    const { run, all } = workflow('ci.yml').jobs
    const commandsOf = (job: Job | undefined) => stepsOf(job).flatMap(step => step.run ?? [])
    expect(commandsOf(run)).toEqual(['.ci/run'])
    const parts = all?.strategy?.matrix.part ?? []
    expect(parts).toEqual(parts.map((_, index) => index + 1))
    expect(commandsOf(all).at(-1)).toBe(`npm run test:all -- --shard=\${{ matrix.part }}/${parts.length}`)
    for (const job of [run, all]) expect(stepsOf(job)[0]?.with).toMatchObject({ 'fetch-depth': 0 })
  })

  it('may write only where they publish', () => {
    for (const name of ['ci.yml', 'codeql.yml', 'release.yml', 'site.yml'])
      expect(workflow(name).permissions).toEqual({ contents: 'read' })
    const { jobs } = workflow('release.yml')
    const writing = Object.entries(jobs).flatMap(([name, { permissions = {} }]) =>
      Object.entries(permissions).flatMap(([scope, right]) => (right === 'write' ? [`${name} ${scope}`] : [])),
    )
    expect(writing.sort()).toEqual([
      ...['chart id-token', 'chart packages', 'images id-token', 'images packages', 'packages id-token'],
      'python id-token',
      ...['release contents', 'release id-token', 'site id-token', 'site pages'],
    ])
  })
})

describe('a workflow', () => {
  const names = readdirSync(join(github, 'workflows'))

  it.each(names)('%s uses each action by the digest of a commit, and names its version', name => {
    const text = readFileSync(join(github, 'workflows', name), 'utf8')
    const used = [...text.matchAll(/uses: (?!\.\/)(.+)/g)].map(([, action]) => action ?? '')
    expect(used.length).toBeGreaterThan(0)
    expect(used.filter(action => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([])
  })

  it.each(names)('%s may write, and reads secrets, only in jobs of an environment, which has reviewers', name => {
    const publishing = Object.entries(workflow(name).jobs).filter(
      // The job of a workflow that is called names its environment itself. An alert of CodeQL publishes no artefact.
      ([, { uses, permissions = {}, ...job }]) =>
        uses === undefined &&
        (Object.entries(permissions).some(([scope, right]) => right === 'write' && scope !== 'security-events') ||
          JSON.stringify(job).includes('secrets.')),
    )
    expect(publishing.filter(([, { environment }]) => environment === undefined)).toEqual([])
  })

  it('installs Python packages by their hashes only', () => {
    const runs = names.flatMap(name =>
      Object.values(workflow(name).jobs).flatMap(job => stepsOf(job).map(({ run }) => run)),
    )
    const installs = runs.filter(run => run?.includes('pip install'))
    expect(installs).toEqual(['pip install --require-hashes --requirement .github/release-requirements.txt'])
    const pinned = readFileSync(join(github, 'release-requirements.txt'), 'utf8')
    for (const line of pinned.match(/^[^#\s].*/gm) ?? []) expect(line).toMatch(/^[\w.-]+==[\w.]+ \\$/)
    const backend = readFileSync(join(repositoryRoot(), 'clients/python/pyproject.toml'), 'utf8')
    const [, name = 'no backend'] = /requires = \["([\w-]+)/.exec(backend) ?? []
    expect(pinned).toContain(`\n${name}==`)
  })
})

describe('a release', () => {
  const { jobs } = workflow('release.yml')

  it('builds every image for amd64 and arm64, with an SBOM and provenance, and signs it', () => {
    const targets = [...readImages().keys()].filter(name => !['build', 'runtime'].includes(name))
    expect(jobs.images?.strategy?.matrix.target?.toSorted()).toEqual(targets.toSorted())
    const steps = stepsOf(jobs.images)
    expect(steps.find(({ uses }) => uses?.startsWith('docker/build-push-action'))?.with).toMatchObject({
      platforms: 'linux/amd64,linux/arm64',
      provenance: 'mode=max',
      sbom: true,
    })
    expect(steps.filter(({ run }) => run?.startsWith('cosign sign'))).toHaveLength(1)
    expect(steps.find(({ uses }) => uses?.startsWith('anchore/sbom-action'))?.with).toMatchObject({
      format: 'spdx-json',
    })
  })

  it('publishes the packages with provenance', () => {
    const runs = stepsOf(jobs.packages).flatMap(({ run = [] }) => run)
    expect(runs.join('\n')).toContain('for name in belfry-client belfry-once belfry-cli belfry belfry-testing; do')
    expect(runs.join('\n')).toContain('npm publish "./artefacts/$name-$VERSION.tgz" --provenance --access public')
  })

  it('names its repository in the packages', () => {
    const env = { GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'owner/belfry' }
    expect(sourceOf('programs/cli', env)).toEqual({
      repository: { type: 'git', url: 'git+https://github.com/owner/belfry.git', directory: 'programs/cli' },
      homepage: 'https://github.com/owner/belfry#readme',
      bugs: { url: 'https://github.com/owner/belfry/issues' },
    })
    expect(sourceOf('programs/cli', {})).toEqual({})
  })

  it('publishes the Python package without a token, by trusted publishing', () => {
    const python = jobs.python as Job & { environment: { name: string } }
    expect([python.permissions, python.environment.name]).toEqual([{ 'id-token': 'write' }, 'pypi'])
    const publish = stepsOf(python).find(({ uses }) => uses?.startsWith('pypa/gh-action-pypi-publish@'))
    expect(publish).toBeDefined()
    expect(publish?.with).toBeUndefined()
  })

  it('signs the checksums of the Terraform provider', () => {
    const runs = stepsOf(jobs.release).flatMap(({ run = [] }) => run)
    expect(runs.join('\n')).toMatch(/terraform-provider-belfry_\$\{VERSION\}_SHA256SUMS"\ncosign sign-blob/)
  })

  it('publishes nothing in a rehearsal, which is started by hand, and after the checks otherwise', () => {
    const publishing = Object.entries(jobs).filter(([, job]) => job.if !== undefined)
    expect(publishing.map(([name]) => name)).toEqual(['images', 'packages', 'python', 'chart', 'release', 'site'])
    for (const [name, job] of publishing) {
      expect([name, job.if]).toEqual([name, "github.event_name == 'push'"])
      expect(job.needs).toContain(name === 'site' ? 'release' : name === 'release' ? 'images' : 'check')
    }
    const rehearsed = Object.entries(jobs).filter(([, job]) => job.if === undefined)
    expect(rehearsed.filter(([, job]) => Object.values(job.permissions ?? {}).includes('write'))).toEqual([])
    expect(JSON.stringify(rehearsed)).not.toMatch(/secrets\.|publish|push: true/)
  })

  it('makes its artefacts with the script that a maintainer runs, twice, and installs them', () => {
    const runs = stepsOf(jobs.artefacts).flatMap(({ run = [] }) => run)
    expect(runs).toContain('node scripts/make-release.mjs artefacts')
    expect(runs).toContain('node scripts/make-release.mjs again && diff artefacts/SHA256SUMS again/SHA256SUMS')
    expect(runs).toContain('npm run rehearse')
  })

  it.runIf(hasGoTool('helm', ['version']))('packs the chart without its test values', () => {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-chart-'))
    execFileSync('helm', ['package', join(repositoryRoot(), 'k8s/chart'), '--destination', folder])
    const [archive = ''] = readdirSync(folder)
    const files = execFileSync('tar', ['-tzf', join(folder, archive)], { encoding: 'utf8' })
      .trim()
      .split('\n')
    expect(files).toEqual(
      expect.arrayContaining(['belfry/Chart.yaml', 'belfry/values.schema.json', 'belfry/README.md']),
    )
    expect(files.filter(file => file.startsWith('belfry/ci/'))).toEqual([])
  })

  it('has notes from the dated section of its version', () => {
    const changelog =
      '# Changelog\n\n## Unreleased\n\n- c\n\n## 0.2.0 (2026-11-24)\n\n- b\n\n## 0.1.0 (2026-01-01)\n\n- a\n'
    expect(notesOf(changelog, '0.2.0')).toBe('- b')
    expect(notesOf(changelog, '0.1.0')).toBe('- a')
    expect(notesOf(changelog, '0.3.0')).toBeNull()
    expect(notesOf(changelog, 'Unreleased')).toBeNull()
  })

  it('needs a tag that the manifests, the chart and the changelog agree with', () => {
    const files: Record<string, string> = {
      'CHANGELOG.md': '## 0.2.0 (2026-11-24)\n\n- b\n',
      'k8s/chart/Chart.yaml': 'name: belfry\nversion: 0.2.0\n',
    }
    const readText = (path: string) => files[path] ?? '{"version": "0.2.0"}'
    expect(findReleaseProblems('v0.2.0', readText)).toEqual([])
    expect(findReleaseProblems('v0.3.0', readText)).toEqual([
      ...['package.json', 'packages/client/package.json', 'programs/cli/package.json'].map(
        path => `${path} has the version 0.2.0, not 0.3.0.`,
      ),
      ...['programs/belfry/package.json', 'packages/testing/package.json', 'k8s/chart/Chart.yaml'].map(
        path => `${path} has the version 0.2.0, not 0.3.0.`,
      ),
      'CHANGELOG.md has no dated section 0.3.0.',
    ])
    expect(findReleaseProblems('0.2.0', readText)).toEqual(['The tag 0.2.0 has no form like v0.2.0.'])
  })

  it('would be accepted with the version of this state, if it is not in development', () => {
    const { version } = JSON.parse(readFileSync(join(repositoryRoot(), 'package.json'), 'utf8'))
    const problems = version.endsWith('-dev') ? [`CHANGELOG.md has no dated section ${version}.`] : []
    expect(findReleaseProblems(`v${version}`)).toEqual(problems)
  })
})

describe('the forms for issues', () => {
  const forms = readdirSync(join(github, 'ISSUE_TEMPLATE')).filter(name => name !== 'config.yml')

  it.each(forms)('%s has what GitHub requires, with unique ids', name => {
    const form = parse(readFileSync(join(github, 'ISSUE_TEMPLATE', name), 'utf8'))
    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) })
    const fields = form.body.filter(({ type }: { type: string }) => type !== 'markdown')
    for (const { type, id, attributes } of fields) {
      expect(['input', 'textarea', 'dropdown', 'checkboxes']).toContain(type)
      expect([id, attributes.label]).toEqual([expect.any(String), expect.any(String)])
    }
    const ids = fields.map(({ id }: { id: string }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

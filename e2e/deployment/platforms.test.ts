import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { documentedVariables } from '@belfry/test-support'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { repositoryRoot } from '../repository-root.ts'
import { readImages } from './read-dockerfile.ts'

/** What a template says of the one process, in the words of no platform. */
type Template = {
  dockerfile: string
  /** The target of the Dockerfile; undefined where a platform cannot choose one. */
  target?: string
  migration: string
  healthCheck: string
  stopSeconds: number
  /** The variables that the template itself sets. */
  variables: string[]
}

const read = (path: string) => readFileSync(join(repositoryRoot(), path), 'utf8')
const images = readImages()
const roles = ['api', 'scheduler', 'dispatcher', 'all-in-one'].flatMap(documentedVariables)

const templates: Record<string, Template> = { Render: render(), Railway: railway(), 'Fly.io': fly() }

describe.each(Object.entries(templates))('the template for %s', (platform, template) => {
  it('builds the image that has all roles and the migrations', () => {
    expect(template.dockerfile.replace('./', '')).toBe('Dockerfile')
    expect(template.target ?? [...images.keys()].at(-1)).toBe('all-in-one')
  })

  it('applies the migrations before a deployment', () => {
    expect(template.migration.split(' ')).toEqual(images.get('migrate')?.command)
  })

  it('gives the process more time to stop than a drain takes', () => {
    const drain = roles.find(({ name }) => name === 'DRAIN_SECONDS')?.default
    expect(template.stopSeconds).toBeGreaterThan(Number(drain) + 5)
  })

  it('asks for the health of the process', () => {
    expect(['/healthz', '/readyz']).toContain(template.healthCheck)
  })

  it('sets only variables that Belfry knows and, with those of the guide, all that it needs', () => {
    const all = [...template.variables, ...guideFor(platform)]
    expect(all.filter(name => !roles.some(variable => variable.name === name))).toEqual([])
    const required = roles.filter(({ isRequired }) => isRequired).map(({ name }) => name)
    expect(all).toEqual(expect.arrayContaining([...required, 'PUBLIC_URL', 'TRUST_PROXY']))
  })
})

it('the process on Fly.io listens where the proxy connects, and is never stopped', () => {
  const { env, http_service: service } = parseToml(read('fly.toml')) as Record<string, Record<string, unknown>>
  expect(Number(env?.PORT)).toBe(service?.internal_port)
  expect(service).toMatchObject({ auto_stop_machines: 'off', min_machines_running: 1 })
})

it('the database on Render has a version that Belfry supports, and only Render reaches it', () => {
  const { services, databases } = parseYaml(read('render.yaml'))
  const { fromDatabase } = services[0].envVars.find(({ key }: { key: string }) => key === 'DATABASE_URL')
  expect(databases).toEqual([expect.objectContaining({ name: fromDatabase.name, ipAllowList: [] })])
  expect(Number(databases[0].postgresMajorVersion)).toBeGreaterThanOrEqual(15)
})

/** Returns the variables that docs/self-hosting.md tells users of a platform to set. */
function guideFor(platform: string): string[] {
  const [, section = ''] = /^## Render, Railway and Fly\.io\n(.*?)^## /ms.exec(read('docs/self-hosting.md')) ?? []
  const rows = [...section.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)]
  return rows.flatMap(([, name = '', platforms = '']) => (platforms.split(', ').includes(platform) ? [name] : []))
}

function render(): Template {
  const { services } = parseYaml(read('render.yaml'))
  expect(services).toHaveLength(1)
  const [service] = services
  return {
    dockerfile: service.dockerfilePath,
    migration: service.preDeployCommand,
    healthCheck: service.healthCheckPath,
    stopSeconds: service.maxShutdownDelaySeconds,
    // Render asks the user for those without a value.
    variables: service.envVars
      .filter((variable: object) => !('sync' in variable))
      .map(({ key }: { key: string }) => key),
  }
}

function railway(): Template {
  const { build, deploy } = JSON.parse(read('railway.json'))
  return {
    dockerfile: build.dockerfilePath,
    migration: deploy.preDeployCommand.join(' && '),
    healthCheck: deploy.healthcheckPath,
    stopSeconds: deploy.drainingSeconds,
    variables: [],
  }
}

type FlyFile = {
  build: { dockerfile: string; 'build-target': string }
  deploy: { release_command: string }
  env: Record<string, string>
  http_service: { checks: [{ path: string }] }
  kill_timeout: number
}

function fly(): Template {
  const { build, deploy, env, http_service: service, kill_timeout } = parseToml(read('fly.toml')) as unknown as FlyFile
  return {
    dockerfile: build.dockerfile,
    target: build['build-target'],
    migration: deploy.release_command,
    healthCheck: service.checks[0].path,
    stopSeconds: kill_timeout,
    variables: Object.keys(env),
  }
}

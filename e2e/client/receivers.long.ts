import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { Belfry, webhooks } from '@belfry/client'
import { freePort } from '@belfry/embedded'
import { createTestDatabase } from '@belfry/test-support'
import { startProcess } from '@belfry/test-support/servers'
import { waitFor } from '@belfry/test-support/wait-for'
import { transform } from 'esbuild'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Belfry as Installation, startBelfry } from '../belfry.ts'
import { repositoryRoot } from '../repository-root.ts'
import { pack, type ScratchProject, scratchProject } from './scratch-project.ts'
import { type FetchHandler, type Receiving, serveFetch } from './serve-receiver.ts'

const examples = join(repositoryRoot(), 'examples')

/** Programs of the examples, and the package that provides their `express`. */
const programs = {
  'Express 5': { file: 'express', express: 'express' },
  'Express 4': { file: 'express', express: 'express4' },
  Fastify: { file: 'fastify', express: 'express' },
  'Hono on Node': { file: 'hono-node', express: 'express' },
  NestJS: { file: 'nest/main', express: 'express' },
  'Express and PostgreSQL': { file: 'once', express: 'express' },
}
/** Modules of the examples, which their platforms call with a `Request`. */
const modules = {
  'Next.js': { file: 'next-route', isConfigured: 'by the process' },
  'Hono on Workers': { file: 'hono', isConfigured: 'by a binding' },
  Workers: { file: 'fetch-handler', isConfigured: 'by a binding' },
} as const

type Receiver = Receiving & { printed(): string; isAlive(): boolean }

let installation: Installation
let belfry: Belfry
let secret: string
let projects: Record<'express' | 'express4', ScratchProject>
let database: Awaited<ReturnType<typeof createTestDatabase>>

beforeAll(async () => {
  const tarballs = await Promise.all([pack('client'), pack('once')])
  const [running, express, express4, made] = await Promise.all([
    startBelfry('postgres'),
    project(tarballs, 'express'),
    project(tarballs, 'express4'),
    createTestDatabase(),
  ])
  installation = running
  projects = { express, express4 }
  database = made
  const { apiKey = '' } = installation.caller
  belfry = new Belfry({ apiKey, baseUrl: installation.url })
  const { data } = await belfry.workspaces.signingSecrets.list('current')
  secret = data[0]?.secret ?? ''
  await createTables(await readFile(join(examples, 'once.ts'), 'utf8'))
}, 120_000)

afterAll(async () => {
  await installation?.close()
  await database?.drop()
})

// A user's project: the packed packages, the frameworks, and the examples as JavaScript.
async function project(tarballs: string[], express: 'express' | 'express4'): Promise<ScratchProject> {
  const made = await scratchProject(tarballs, null, { type: 'module' })
  const modules = join(made.folder, 'node_modules')
  const frameworks = ['fastify', 'hono', 'pg', 'reflect-metadata', 'rxjs', '@hono/node-server']
  const nest = ['@nestjs/common', '@nestjs/core', '@nestjs/platform-express']
  for (const scope of ['@hono', '@nestjs']) await mkdir(join(modules, scope), { recursive: true })
  for (const name of [...frameworks, ...nest]) await symlink(join(examples, 'node_modules', name), join(modules, name))
  await symlink(join(examples, 'node_modules', express), join(modules, 'express'))
  await mkdir(join(made.folder, 'nest'))
  for (const name of ['express', 'fastify', 'hono', 'hono-node', 'next-route', 'fetch-handler', 'once', 'nest/main']) {
    const source = (await readFile(join(examples, `${name}.ts`), 'utf8')).replace("'./hono.ts'", "'./hono.mjs'")
    const tsconfigRaw = { compilerOptions: { experimentalDecorators: true } }
    const { code } = await transform(source, { loader: 'ts', target: 'es2022', tsconfigRaw })
    await writeFile(join(made.folder, `${name}.mjs`), code)
  }
  return made
}

async function createTables(source: string): Promise<void> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  for (const [, text = ''] of source.matchAll(/^\/\/ {3}(CREATE TABLE .*)$/gm)) await client.query(text)
  await client.end()
}

async function startProgram(name: keyof typeof programs, signingSecret: string | undefined): Promise<Receiver> {
  const { file, express } = programs[name]
  const port = await freePort()
  const given = signingSecret === undefined ? {} : { BELFRY_SIGNING_SECRET: signingSecret }
  const program = startProcess([process.execPath, `${file}.mjs`], {
    cwd: projects[express as 'express' | 'express4'].folder,
    env: { HOME: process.env.HOME, PORT: String(port), DATABASE_URL: database.url, ...given },
  })
  const url = `http://127.0.0.1:${port}`
  const { isRunning: isAlive } = program
  await waitFor(async () => !isAlive() || (await fetch(url).catch(() => null)) !== null, Boolean, 60_000)
  return { url, isAlive, printed: () => program.output, close: () => program.stop('SIGKILL') }
}

async function startModule(name: keyof typeof modules, signingSecret: string | undefined): Promise<Receiver> {
  const { file, isConfigured } = modules[name]
  const env = signingSecret === undefined ? {} : { BELFRY_SIGNING_SECRET: signingSecret }
  type Handler = { fetch(request: Request, env: object): Response | Promise<Response> }
  const module: { POST: FetchHandler; default: Handler } = await import(
    pathToFileURL(join(projects.express.folder, `${file}.mjs`)).href
  )
  const printed: string[] = []
  const { log } = console
  console.log = (...values: unknown[]) => void printed.push(values.map(String).join(' '))
  delete process.env.BELFRY_SIGNING_SECRET
  if (isConfigured === 'by the process') Object.assign(process.env, env)
  else vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' }) // by which Hono recognizes its platform
  const receiver = await serveFetch(async request => {
    try {
      return await (isConfigured === 'by the process' ? module.POST(request) : module.default.fetch(request, env))
    } catch (error) {
      return new Response(String(error), { status: 500 }) // as each of these platforms does
    }
  })
  const close = () => {
    receiver.close()
    console.log = log
    delete process.env.BELFRY_SIGNING_SECRET
    vi.unstubAllGlobals()
  }
  return { url: receiver.url, close, isAlive: () => true, printed: () => printed.join('\n') }
}

const start = (name: string, signingSecret: string | undefined) =>
  name in programs
    ? startProgram(name as keyof typeof programs, signingSecret)
    : startModule(name as keyof typeof modules, signingSecret)

const post = (receiver: Receiver, init: RequestInit) =>
  fetch(`${receiver.url}/hooks/belfry`, { method: 'POST', ...init })

// tsx runs a `.ts` file of such a project as CommonJS, which has no top-level await.
it.each([...new Set(Object.values(programs).map(({ file }) => file))])(
  '%s.ts can also be a CommonJS module',
  async file => {
    const source = await readFile(join(examples, `${file}.ts`), 'utf8')
    const tsconfigRaw = { compilerOptions: { experimentalDecorators: true } }
    await transform(source, { loader: 'ts', format: 'cjs', tsconfigRaw })
  },
)

const withDatabase = 'Express and PostgreSQL'

describe.each([...Object.keys(programs), ...Object.keys(modules)])('the receiver for %s', name => {
  let receiver: Receiver
  const text = 'text/plain; charset=utf-8'
  const payloads = [
    ['an object', { order: 42 }, {}],
    ['a large payload', { order: 43, text: 'ü'.repeat(125_000) }, {}],
    ['nothing', undefined, {}],
    ['null', 'null', {}],
    ['text', '"Grüße"', { 'Content-Type': text }],
  ] as const
  const accepted = payloads.filter(([what]) => what !== 'text' || name !== withDatabase)
  beforeAll(async () => {
    receiver = await start(name, secret)
  }, 90_000)
  afterAll(() => receiver?.close())

  async function delivered(id: string) {
    const task = await waitFor(
      () => belfry.tasks.get(id),
      ({ state, attempts }) => state === 'success' || state === 'dead' || attempts > 1,
      60_000,
    )
    return { state: task.state, status: task.lastRun?.responseStatus }
  }

  it.concurrent.each(accepted)('accepts a delivery with %s', async (_, payload, headers) => {
    const targetUrl = `${receiver.url}/hooks/belfry`
    const request = { targetUrl, headers, ...(payload === undefined ? {} : { payload }) }
    const task = await belfry.tasks.create({ ...request, delay: 1000 })
    expect(await delivered(task.id)).toEqual({ state: 'success', status: 204 })
    const prints = () =>
      waitFor(
        async () => receiver.printed(),
        text => text.includes(task.id),
      )
    if (name !== withDatabase) await prints()
  })

  it('rejects what Belfry did not send with 400, and stays alive', async () => {
    const headers = { 'Content-Type': 'application/json' }
    const forged = await webhooks.sign('{}', `whsec_${Buffer.alloc(32, 1).toString('base64')}`)
    const old = await webhooks.sign('{}', secret, { timestamp: new Date(Date.now() - 3_600_000) })
    const genuine = await webhooks.sign('{}', secret)
    const requests: RequestInit[] = [
      { body: '{}', headers: { ...headers, ...forged } },
      { headers: forged },
      { body: '{}', headers: { ...headers, ...old } },
      { body: '{"changed":true}', headers: { ...headers, ...genuine } },
      { headers: genuine },
      { body: '{}', headers },
      {},
      { body: '{}', headers: { ...headers, ...forged, 'webhook-signature': 'v1,aaaa' } },
    ]
    for (const request of requests) expect((await post(receiver, request)).status).toBe(400)
    expect(receiver.isAlive()).toBe(true)
    const signed = await webhooks.sign('', secret, { id: `task_after_${Date.now()}` })
    expect((await post(receiver, { headers: signed })).status).toBe(204)
  })

  it('does not serve without a secret, and says which variable is missing', async () => {
    const unset = await start(name, undefined)
    try {
      if (name in programs) {
        expect(unset.isAlive()).toBe(false)
        expect(unset.printed()).toContain('BELFRY_SIGNING_SECRET')
        return
      }
      const answer = await post(unset, { body: '{}', headers: await webhooks.sign('{}', secret) })
      expect(answer.status).toBe(500)
      expect(await answer.text()).toMatch(/BELFRY_SIGNING_SECRET|Internal Server Error/)
    } finally {
      unset.close()
    }
  })
})

it('the receiver for NestJS has no type errors', async () => {
  const compiler = join(repositoryRoot(), 'node_modules/typescript/bin/tsc')
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', join(examples, 'nest')])
  expect(stdout).toBe('')
})

describe('the receiver with PostgreSQL', () => {
  let receiver: Receiver
  const json = { 'Content-Type': 'application/json' }
  const client = () => new Client({ connectionString: database.url })
  beforeAll(async () => {
    receiver = await start('Express and PostgreSQL', secret)
  }, 90_000)
  afterAll(() => receiver?.close())

  const send = async (id: string, body: string) =>
    (await post(receiver, { body, headers: { ...json, ...(await webhooks.sign(body, secret, { id })) } })).status
  const orders = async () => {
    const db = client()
    await db.connect()
    const { rows } = await db.query('SELECT order_id FROM paid_orders WHERE order_id >= 1000 ORDER BY 1')
    await db.end()
    return rows.map(row => row.order_id)
  }

  it('does the work once for twenty requests at once', async () => {
    const statuses = await Promise.all(Array.from({ length: 20 }, () => send('task_twenty', '{"order":1000}')))
    expect(new Set(statuses)).toEqual(new Set([204]))
    expect(await orders()).toEqual([1000])
  })

  it('does the work with the next attempt when it has failed', async () => {
    expect(await send('task_failing', '{"order":"not a number"}')).toBe(500)
    expect(await send('task_failing', '{"order":1001}')).toBe(204)
    expect(await send('task_failing', '{"order":1002}')).toBe(204)
    expect(await orders()).toEqual([1000, 1001])
    expect(receiver.isAlive()).toBe(true)
  })
})

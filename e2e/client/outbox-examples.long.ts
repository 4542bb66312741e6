import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createEmptyDatabase, type TestDatabase } from '@belfry/test-support'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasPython, useVenv } from '../python.ts'
import { repositoryRoot } from '../repository-root.ts'

const root = repositoryRoot()
const examples = join(root, 'examples/outbox')

let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await createEmptyDatabase()
  pool = new pg.Pool({ connectionString: database.url })
  await pool.query(await readFile(join(root, 'programs/cli/outbox.sql'), 'utf8'))
  await pool.query('CREATE TABLE orders (id integer PRIMARY KEY)')
})
afterAll(async () => {
  await pool?.end()
  await database?.drop()
})
beforeEach(async () => {
  await pool.query('DELETE FROM orders; DELETE FROM belfry.outbox')
})

type PlaceOrder = (client: unknown, order: number) => Promise<void>
// Resolved from the package that has the dependency.
const load = (folder: string, name: string) =>
  import(pathToFileURL(createRequire(join(root, folder, 'package.json')).resolve(name)).href)
const placeOrderOf = async (name: string): Promise<PlaceOrder> =>
  (await import(pathToFileURL(join(examples, `${name}.ts`)).href)).placeOrder

/** Each library's client, which the example gets. */
const clients: Record<string, () => Promise<unknown>> = {
  pg: async () => pool,
  prisma: async () => {
    const { PrismaClient } = await import(pathToFileURL(join(root, 'prisma/src/generated/client.ts')).href)
    const { PrismaPg } = await load('prisma', '@prisma/adapter-pg')
    return new PrismaClient({ adapter: new PrismaPg({ connectionString: database.url }) })
  },
  drizzle: async () => (await load('examples', 'drizzle-orm/node-postgres')).drizzle(pool),
  kysely: async () => {
    const { Kysely, PostgresDialect } = await load('examples', 'kysely')
    return new Kysely({ dialect: new PostgresDialect({ pool }) })
  },
}

async function expectOneCall(): Promise<void> {
  const { rows } = await pool.query('SELECT body FROM belfry.outbox')
  expect(rows).toEqual([
    {
      body: {
        ...{ name: 'POST example.com/hooks/remind', method: 'POST', on_past: 'run', key: 'remind:42' },
        url: 'https://example.com/hooks/remind',
        execute_at: expect.any(String),
        payload: { order: 42 },
      },
    },
  ])
  expect((await pool.query('SELECT id FROM orders')).rows).toEqual([{ id: 42 }])
}

describe.each(Object.keys(clients))('the example for %s', name => {
  it('stores the order and its call, or neither', async () => {
    const placeOrder = await placeOrderOf(name)
    const client = await clients[name]?.()
    await placeOrder(client, 42)
    await expectOneCall()
    // The order exists.
    await expect(placeOrder(client, 42)).rejects.toThrow()
    await expectOneCall()
    if (name === 'prisma') await (client as { $disconnect(): Promise<void> }).$disconnect()
  })
})

describe.skipIf(!hasPython)('the examples in Python', () => {
  const venv = useVenv()
  beforeAll(async () => {
    await venv.pip(['install', 'sqlalchemy>=2', 'django>=5.2', 'psycopg[binary]>=3.2'])
    await mkdir(venv.path('run'))
  }, 180_000)

  const programs = {
    with_sqlalchemy: (url: URL) => `
from sqlalchemy import create_engine
from sqlalchemy.orm import Session
from with_sqlalchemy import place_order
engine = create_engine(${JSON.stringify(url.href.replace('postgresql://', 'postgresql+psycopg://'))})
def place():
    with Session(engine) as session:
        place_order(session, 42)
`,
    with_django: (url: URL) => `
from django.conf import settings
settings.configure(DATABASES={"default": {
    "ENGINE": "django.db.backends.postgresql", "NAME": ${JSON.stringify(url.pathname.slice(1))},
    "USER": ${JSON.stringify(decodeURIComponent(url.username))}, "PASSWORD": ${JSON.stringify(decodeURIComponent(url.password))},
    "HOST": ${JSON.stringify(url.searchParams.get('host') ?? url.hostname)}, "PORT": ${JSON.stringify(url.port)},
}})
from with_django import place_order
def place():
    place_order(42)
`,
  }

  it.each(Object.entries(programs))('%s stores the order and its call, or neither', async (_name, program) => {
    const script = `${program(new URL(database.url.replace('postgres://', 'postgresql://')))}
place()
try:
    place()
    raise SystemExit("The order was stored twice.")
except Exception as error:
    assert "orders_pkey" in str(error), error
`
    await venv.run('python', ['-c', script], { cwd: venv.path('run'), env: { ...process.env, PYTHONPATH: examples } })
    await expectOneCall()
  })
})

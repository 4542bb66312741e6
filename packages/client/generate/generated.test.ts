import { readFileSync } from 'node:fs'
import { problems } from '@belfry/contract/problem'
import { describe, expect, it } from 'vitest'
import { formatted } from './format.ts'
import { pythonClient, synchronous } from './python.ts'
import { pythonModels } from './python-models.ts'
import { clientResources } from './resources.ts'
import { clientTypes } from './response-types.ts'

const python = '../../../clients/python/src/belfry_client'

it('names codes of the status 409 as conflicts', () => {
  const text = clientResources().replace(/\s+\*?\s*/g, ' ')
  const codes = [...text.matchAll(/Throws `ConflictError` \(([^)]+)\)/g)].flatMap(([, list = '']) => list.split(', '))
  const all = Object.entries(problems).flatMap(([code, { status }]) => (status === 409 ? `\`${code}\`` : []))
  expect(codes.length).toBeGreaterThan(5)
  expect(codes.filter(code => !all.includes(code))).toEqual([])
})

describe('the generated code, which `npm run clients` updates, is that of the operations', () => {
  it('of the TypeScript client', async () => {
    await expect(formatted(clientTypes())).toMatchFileSnapshot('../src/operations/responses.ts')
    await expect(formatted(clientResources())).toMatchFileSnapshot('../src/operations/resources.ts')
  })

  it('of the Python client', async () => {
    const http = readFileSync(new URL(`${python}/_async_http.py`, import.meta.url), 'utf8')
    await expect(pythonClient()).toMatchFileSnapshot(`${python}/_async_client.py`)
    await expect(synchronous(pythonClient())).toMatchFileSnapshot(`${python}/_sync_client.py`)
    await expect(synchronous(http)).toMatchFileSnapshot(`${python}/_sync_http.py`)
    await expect(pythonModels()).toMatchFileSnapshot(`${python}/models.py`)
  })
})

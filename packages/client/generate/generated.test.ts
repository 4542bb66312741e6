import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { pythonClient, pythonModels, synchronous } from './python.ts'

const python = '../../../clients/python/src/belfry'

describe('the generated code, which `npm run clients` updates, is that of the operations', () => {
  it('of the Python client', async () => {
    const http = readFileSync(new URL(`${python}/_async_http.py`, import.meta.url), 'utf8')
    await expect(pythonClient()).toMatchFileSnapshot(`${python}/_async_client.py`)
    await expect(synchronous(pythonClient())).toMatchFileSnapshot(`${python}/_sync_client.py`)
    await expect(synchronous(http)).toMatchFileSnapshot(`${python}/_sync_http.py`)
    await expect(pythonModels()).toMatchFileSnapshot(`${python}/models.py`)
  })
})

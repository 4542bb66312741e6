import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { useStage } from './stage.ts'

const page = `<!doctype html><button onclick="parent.postMessage({ check_token: 'a token' }, '*')">I am human</button>`

describe('a check of registrations', { timeout: 180_000 }, () => {
  const tokens: unknown[] = []
  let server: Server
  const stage = useStage({
    env: async () => {
      server = createServer(async (request, response) => {
        if (request.method === 'GET') return response.setHeader('Content-Type', 'text/html').end(page)
        const { token } = JSON.parse(Buffer.concat(await request.toArray()).toString())
        tokens.push(token)
        return response.writeHead(token === 'a token' ? 204 : 403).end()
      }).listen(0, '127.0.0.1')
      await new Promise(resolve => server.once('listening', resolve))
      return { REGISTRATION_CHECK_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
    },
  })
  afterAll(() => server.close())

  it('is a frame in the form, which sends its token', async () => {
    const tab = await stage.newPage({ expected: /status of 40[01]|request: http:\/\/127/ })
    await tab.goto('/register')
    await tab.getByLabel('Name').fill('Ada Lovelace')
    await tab.getByLabel('Email').fill('ada@example.com')
    await tab.getByLabel('Password').fill('correct horse battery')
    await tab.frameLocator('iframe').getByRole('button').waitFor()
    await tab.getByRole('button', { name: 'Create account' }).click()
    await tab.getByText('The check of this registration failed. Repeat it.').waitFor()
    await tab.frameLocator('iframe').getByRole('button', { name: 'I am human' }).click()
    await tab.getByRole('button', { name: 'Create account' }).click()
    await tab.getByRole('heading', { name: 'Confirm your email address', exact: true }).waitFor()
    expect(tokens).toEqual(['', 'a token'])
  })
})

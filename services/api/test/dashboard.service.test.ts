import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import express from 'express'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serveDashboard } from '../src/dashboard/serve-dashboard.ts'

describe('the dashboard', () => {
  let url: string
  let close: () => void
  let publicUrl: string

  beforeEach(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-dashboard-'))
    mkdirSync(join(folder, 'assets'))
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Belfry</title>')
    writeFileSync(join(folder, 'assets/main-abc.js'), 'export {}')
    writeFileSync(join(folder, 'assets/main-abc.js.gz'), gzipSync('export {}'))
    const checkUrl = 'https://check.example.com/captcha'
    const app = express()
    app.use((request, response, next) => serveDashboard(folder, publicUrl, checkUrl)(request, response, next))
    app.use((_request, response) => void response.status(404).send('next'))
    const server = app.listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const address = server.address()
    if (typeof address !== 'object' || address === null) throw new Error('A TCP server has a port.')
    url = `http://127.0.0.1:${address.port}`
    publicUrl = url
    close = () => void server.close()
  })
  afterEach(() => close())

  const navigate = (path: string) => fetch(url + path, { headers: { accept: 'text/html,*/*' } })

  it.each(['/', '/acme/w/ws_1/tasks', '/invitations/a-token'])('is one page at %s', async path => {
    const answer = await navigate(path)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('<title>Belfry</title>')
    expect(answer.headers.get('cache-control')).toBe('no-cache')
    const policy = answer.headers.get('content-security-policy')
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain('frame-src https://check.example.com;')
    expect(policy).not.toContain('unsafe')
  })

  it.each(['/api', '/api/v1/nothing', '/admin/queues', '/healthz', '/metrics', '/assets/gone.js'])(
    'is not shown at %s',
    async path => {
      expect((await navigate(path)).status).toBe(404)
    },
  )

  it('redirects from another name of the machine to the public one, on the same port', async () => {
    publicUrl = url.replace('127.0.0.1', 'localhost')
    const answer = await fetch(`${url}//elsewhere.example/a?b=c`, {
      redirect: 'manual',
      headers: { accept: 'text/html' },
    })
    expect(answer.status).toBe(307)
    expect(answer.headers.get('location')).toBe(`${publicUrl}//elsewhere.example/a?b=c`)
    publicUrl = 'http://localhost:1'
    expect((await navigate('/')).status).toBe(200)
    publicUrl = 'https://belfry.example.com'
    expect((await navigate('/')).status).toBe(200)
  })

  it('is shown to navigations only', async () => {
    expect((await fetch(`${url}/acme`, { headers: { accept: 'application/json' } })).status).toBe(404)
    expect((await fetch(`${url}/acme`, { method: 'POST', headers: { accept: 'text/html' } })).status).toBe(404)
  })

  it('sends a hashed file compressed, for good', async () => {
    const answer = await fetch(`${url}/assets/main-abc.js`, { headers: { 'accept-encoding': 'gzip' } })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(answer.headers.get('cache-control')).toContain('immutable')
    expect(await answer.text()).toBe('export {}')
  })

  it('may be absent', async () => {
    const app = express().use(serveDashboard(join(tmpdir(), 'belfry-no-dashboard'), 'https://belfry.example.com', null))
    app.use((_request, response) => void response.status(404).send('next'))
    const server = app.listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    expect((await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: 'text/html' } })).status).toBe(404)
    server.close()
  })
})

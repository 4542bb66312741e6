import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../repository-root.ts'
import { readImages } from './read-dockerfile.ts'

const read = (path: string) => readFileSync(join(repositoryRoot(), path), 'utf8')
const container = JSON.parse(read('.devcontainer/devcontainer.json'))

it('has the Node and the Debian of the images, and a user other than root, whom PostgreSQL refuses', () => {
  const [, major, debian] = /^node:(\d+)\.[\d.]+-(\w+)-slim$/.exec(readImages().get('api')?.base ?? '') ?? []
  expect(container.image).toBe(`mcr.microsoft.com/devcontainers/javascript-node:${major}-${debian}`)
  expect(container.remoteUser).toBe('node')
})

it('prepares the checkout with a program that exists', () => {
  const [, program = ''] = /^node (\S+)$/.exec(container.updateContentCommand) ?? []
  expect([program, existsSync(join(repositoryRoot(), program))]).toEqual(['scripts/bootstrap.mjs', true])
})

it('forwards the ports that the documentation names, with a label each', () => {
  const page = read('docs/quick-start.md') + read('CONTRIBUTING.md')
  for (const port of container.forwardPorts) {
    expect(page).toMatch(new RegExp(`(?:localhost|127\\.0\\.0\\.1):${port}\\b`))
    expect(container.portsAttributes[port]).toEqual({ label: expect.any(String) })
  }
  expect(Object.keys(container.portsAttributes).map(Number)).toEqual(container.forwardPorts)
})

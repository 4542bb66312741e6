import { undocumented } from '@belfry/test-support'
import { expect, it } from 'vitest'
import { loadConfig, variables } from './config.ts'

it('has every role by default, and starts the dispatcher last', () => {
  const rolesOf = (ROLES: string) => loadConfig({ ROLES }).roles
  const all = ['api', 'scheduler', 'dispatcher']
  expect([loadConfig({}).roles, rolesOf(''), rolesOf('dispatcher, scheduler,api')]).toEqual([all, all, all])
  expect(rolesOf('dispatcher,api')).toEqual(['api', 'dispatcher'])
})

it('refuses a role that it does not know, in one plain line', () => {
  const message = 'The configuration is invalid:\n  ROLES: has no role "worker": choose from api, scheduler, dispatcher'
  expect(() => loadConfig({ ROLES: 'api,worker' })).toThrow(message)
  expect(() => loadConfig({ ROLES: 'api,' })).toThrow('has no role ""')
})

it('gives the other roles the address of the API, if it is one of them', () => {
  const envOf = (env: Record<string, string>) => loadConfig(env).env
  expect(envOf({})).toEqual({ PORT: '3000', PUBLIC_URL: 'http://localhost:3000' })
  const given = { PORT: '4000', PUBLIC_URL: 'https://belfry.example.com' }
  expect(envOf(given)).toEqual(given)
  expect(envOf({ ROLES: 'dispatcher' })).toEqual({ ROLES: 'dispatcher' })
})

it('is documented in docs/configuration.md, with its default', () => {
  const names = Object.keys(variables.shape)
  const load = (env: Record<string, string | undefined>) => loadConfig(env).roles
  expect(undocumented({ process: 'all-in-one', names, load, env: {} })).toEqual([])
})

import { problems } from '@belfry/contract/problem'
import { expect, it } from 'vitest'
import { clientMethods } from './client-methods.ts'
import { pythonClient } from './python.ts'
import { clientResources } from './resources.ts'

const resources = clientResources()

it('has a method in TypeScript and in Python for each operation that names one', () => {
  const written = [resources, pythonClient()].map(text => text.replace(/[\s*]+/g, ' '))
  const methods = clientMethods().map(({ resource, name, text }) => ({ method: `${resource}.${name}`, text }))
  const missing = methods.filter(({ text }) => {
    const [summary = ''] = text.split('. ')
    return !written.every(client => client.includes(summary.replace(/[\s*]+/g, ' ')))
  })
  expect(methods.length).toBeGreaterThan(90)
  expect(missing.map(({ method }) => method)).toEqual([])
})

it('names codes of the status 409 as conflicts', () => {
  const text = resources.replace(/\s+\*?\s*/g, ' ')
  const codes = [...text.matchAll(/Throws `ConflictError` \(([^)]+)\)/g)].flatMap(([, list = '']) => list.split(', '))
  const all = Object.entries(problems).flatMap(([code, { status }]) => (status === 409 ? `\`${code}\`` : []))
  expect(codes.length).toBeGreaterThan(5)
  expect(codes.filter(code => !all.includes(code))).toEqual([])
})

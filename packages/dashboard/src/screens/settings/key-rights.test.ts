import { keyRights } from '@belfry/domain/permissions'
import { expect, it } from 'vitest'
import { groupRights, labelOfRight } from './key-scope-fields.tsx'

it('the rights of API keys are in groups, in plain words, each once', () => {
  const groups = groupRights(keyRights)
  expect(groups.flatMap(([, rights]) => rights).sort()).toEqual([...keyRights].sort())
  expect(groups.map(([name]) => name).slice(0, 4)).toEqual(['Connections', 'Cron jobs', 'Dead letters', 'Events'])
  const texts = groups.flatMap(([name, rights]) => rights.map(right => `${name}: ${labelOfRight(right)}`))
  expect(texts.filter(text => !/^[A-Z][a-z ]+s: [A-Z][a-z, ]+$/.test(text))).toEqual([])
  expect(new Set(texts).size).toBe(keyRights.length)
  expect(texts).toContain('Queues: Create and change')
  expect(texts).toContain('Tasks: Create, change and replay')
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { QueryClient } from '@tanstack/react-query'
import type { RouteObject } from 'react-router'
import { expect, it } from 'vitest'
import { createRoutes } from './router.tsx'

const browserTests = join(import.meta.dirname, '../../../e2e/dashboard')

// Shows nothing of its own: its pages are checked inside it.
const frame = 'settings'

/** Returns the paths of the screens below some routes. */
function screensOf(routes: readonly RouteObject[], parent = ''): string[] {
  return routes.flatMap(({ path, lazy, children = [] }) => {
    const whole = [parent, path].filter(Boolean).join('/')
    return [...(lazy && path !== frame ? [whole] : []), ...screensOf(children, whole)]
  })
}

it('tests in the browser check every screen for accessibility', () => {
  const files = readdirSync(browserTests).filter(name => /\.(e2e\.test|long)\.ts$/.test(name))
  const checked = files.flatMap(name => {
    const calls = readFileSync(join(browserTests, name), 'utf8').matchAll(/expectAccessible\(\w+, '([^']+)'\)/g)
    return Array.from(calls, ([, route]) => route)
  })
  const screens = new Set(screensOf(createRoutes(new QueryClient())))
  expect(screens.size).toBeGreaterThan(40)
  expect([...screens].filter(path => !checked.includes(path))).toEqual([])
})

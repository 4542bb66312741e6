import { renderToStaticMarkup } from 'react-dom/server'
import { MemoryRouter } from 'react-router'
import { expect, it, onTestFinished, vi } from 'vitest'
import { Chart } from '../../ui/chart.tsx'
import { daysOf } from './usage.tsx'

it('the chart of the usage shows the days of UTC, also west of it', () => {
  vi.stubEnv('TZ', 'America/New_York')
  onTestFinished(() => void vi.unstubAllEnvs())
  const daily = ['2026-11-20', '2026-11-21'].map(date => ({ date, executions: 1, failed: 0 }))
  const shown = renderToStaticMarkup(
    <MemoryRouter>
      <Chart title="Executions per day" data={daysOf({ daily })} />
    </MemoryRouter>,
  )
  expect(shown).toContain('20 Nov 2026, 00:00:00: Executions 1')
  expect(shown).not.toContain('19 Nov')
})

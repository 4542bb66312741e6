import type { Upcoming as UpcomingRuns } from '@belfry/contract/overview'
import { useQuery } from '@tanstack/react-query'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { queryOf } from '../../api/queries.ts'
import { instantOf, wallDayOf, wallTimeOf } from '../../forms/when/zoned-time.ts'
import { useWorkspace } from '../../session/scope.ts'
import { ButtonLink, Link } from '../../ui/button.tsx'
import { Card, Stack } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { useFilters } from '../../ui/filter-bar.tsx'
import { formatCount } from '../../ui/format-amount.ts'
import { formatMinute } from '../../ui/format-time.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { useDisplayZone } from '../../ui/time-style.ts'
import styles from './upcoming.module.css'

const hourMs = 3_600_000
const hoursOfWeek = 168
const maxListed = 1_000
const instant = { at: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ }

/** The coming week in hours, and what runs in the hour of the URL. */
export function Upcoming() {
  const { workspace } = useWorkspace()
  const zone = useDisplayZone()
  const today = instantOf(wallDayOf(new Date(), zone), zone).at.toISOString()
  const week = useQuery(
    queryOf('getUpcoming', { ws: workspace.id, query: { from: today, hours: hoursOfWeek, limit: 1 } }),
  )
  const given = useFilters(['at'], instant).first('at')
  const at = given === '' ? startOfHour(new Date(), zone).toISOString() : given
  return (
    <>
      <PageHeader title="Coming week" description={`Due tasks and runs of cron jobs. Times are in ${zone}.`} />
      <Stack>
        <Card label="Week">
          <Loaded query={week}>
            {({ day, is_capped }) => <Week hours={day} at={at} zone={zone} isCapped={is_capped} />}
          </Loaded>
        </Card>
        <Hour at={at} zone={zone} />
      </Stack>
    </>
  )
}

type Hours = UpcomingRuns['day']

/** A row for each day, a column for each hour of the clock. Where clocks go back, a column has the hour twice. */
function Week({ hours, at, zone, isCapped }: { hours: Hours; at: string; zone: string; isCapped: boolean }) {
  const days = byDay(hours, zone)
  const top = Math.max(1, ...hours.map(({ count }) => count))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll a table that is wider than the screen
    <section className={styles.frame} aria-label="Due in each hour" tabIndex={0}>
      <table className={styles.week}>
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">Day</span>
            </th>
            {hoursOfDay.map(hour => (
              <th key={hour} scope="col">
                {String(hour).padStart(2, '0')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map(([day, ofDay]) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              {hoursOfDay.map(hour => (
                <td key={hour}>
                  {ofDay.get(hour)?.map(one => (
                    <Cell
                      key={one.at}
                      {...one}
                      top={top}
                      isChosen={Math.floor((Date.parse(at) - Date.parse(one.at)) / hourMs) === 0}
                    />
                  ))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {isCapped && <p className={styles.faint}>Partial count; actual numbers are higher.</p>}
    </section>
  )
}

const hoursOfDay = Array.from({ length: 24 }, (_, hour) => hour)

function byDay(hours: Hours, zone: string): Array<[day: string, Map<number, Hours>]> {
  const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone: zone })
  const days = new Map<string, Map<number, Hours>>()
  for (const one of hours) {
    const at = new Date(one.at)
    const day = weekday.format(at).replace(',', '')
    const ofDay = days.get(day) ?? new Map<number, Hours>()
    const hour = new Date(wallTimeOf(at, zone)).getUTCHours()
    days.set(day, ofDay.set(hour, [...(ofDay.get(hour) ?? []), one]))
  }
  return [...days]
}

type CellProps = Hours[number] & { top: number; isChosen: boolean }

// The buttons of the list lead to each hour with the keyboard, without 168 stops.
function Cell({ at, count, top, isChosen }: CellProps) {
  const { to } = useWorkspace()
  if (count === 0) return null
  const level = Math.ceil((count / top) * 4)
  return (
    <Link
      to={to.upcoming(`?at=${at}`)}
      replace
      preventScrollReset
      tabIndex={-1}
      aria-current={isChosen ? 'true' : undefined}
      className={classNames(styles.cell, styles[`level${level}`])}
    >
      {count < 10_000 ? count : `${Math.round(count / 1000)}k`}
    </Link>
  )
}

function Hour({ at, zone }: { at: string; zone: string }) {
  const { workspace, to } = useWorkspace()
  const hour = useQuery(queryOf('getUpcoming', { ws: workspace.id, query: { from: at, hours: 1, limit: maxListed } }))
  const toHour = (hours: number) => to.upcoming(`?at=${new Date(Date.parse(at) + hours * hourMs).toISOString()}`)
  return (
    <Card label="Hour">
      <div className={styles.head}>
        <h2>
          {formatMinute(new Date(at), zone)} to {clockOf(new Date(Date.parse(at) + hourMs), zone)}
        </h2>
        <ButtonLink size="small" to={toHour(-1)} icon={<ChevronLeft size={14} />}>
          Hour before
        </ButtonLink>
        <ButtonLink size="small" to={toHour(1)} icon={<ChevronRight size={14} />}>
          Hour after
        </ButtonLink>
      </div>
      <Loaded query={hour}>
        {({ next, day }) => (
          <>
            {next.length === 0 && <p className={styles.faint}>Nothing is due in this hour.</p>}
            {next.length === maxListed && (
              <p className={styles.faint}>
                The first {formatCount(maxListed)} of {formatCount(day[0]?.count ?? 0)} are listed.
              </p>
            )}
            <Moments next={next} zone={zone} />
          </>
        )}
      </Loaded>
    </Card>
  )
}

function clockOf(at: Date, zone: string): string {
  return formatMinute(at, zone).slice(-'hh:mm'.length)
}

function Moments({ next, zone }: { next: UpcomingRuns['next']; zone: string }) {
  const { to } = useWorkspace()
  const moments = new Map<string, UpcomingRuns['next']>()
  for (const one of next) moments.set(one.at, [...(moments.get(one.at) ?? []), one])
  if (moments.size === 0) return null
  return (
    <table className={styles.moments} aria-label="Due in this hour">
      <tbody>
        {[...moments].map(([at, runs]) => (
          <tr key={at}>
            <th scope="row">{clockOf(new Date(at), zone)}</th>
            <td className={classNames(runs.length > 1 && styles.together)}>
              {runs.length > 1 && `${runs.length} at once`}
            </td>
            <td>
              <ul>
                {runs.map(({ task_id, cronjob_id, name }, index) => (
                  <li key={task_id ?? `${cronjob_id} ${index}`}>
                    <Link to={task_id ? to.task(task_id) : to.cronJob(cronjob_id ?? '')}>
                      <bdi>{name}</bdi>
                    </Link>
                  </li>
                ))}
              </ul>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Returns when the hour of the clock begins that an instant is in. Half an hour past UTC's in India. */
export function startOfHour(at: Date, zone: string): Date {
  return new Date(at.getTime() - (wallTimeOf(at, zone) % hourMs))
}

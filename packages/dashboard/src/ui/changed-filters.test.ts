import { expect, it } from 'vitest'
import { changedFilters, toggled } from './changed-filters.ts'

it('changes filters of a query, and keeps the other parameters', () => {
  const search = '?page=2&status=failed&status=&topic=a'
  expect(changedFilters(search, [['status', ['success', '']]]).toString()).toBe('page=2&topic=a&status=success')
  expect(changedFilters(search, [['topic', '']]).toString()).toBe('page=2&status=failed&status=')
})

it('adds to the values that the URL has by then, which the page may not show yet', () => {
  const first = changedFilters('', [['response_status', toggled('404')]])
  const second = changedFilters(`?${first}`, [['response_status', toggled('410')]])
  expect(second.getAll('response_status')).toEqual(['404', '410'])
  expect(changedFilters(`?${second}`, [['response_status', toggled('404')]]).toString()).toBe('response_status=410')
})

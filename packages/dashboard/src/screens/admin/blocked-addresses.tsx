import { useInfiniteQuery } from '@tanstack/react-query'
import { MailX } from 'lucide-react'
import type { ReactNode } from 'react'
import { call } from '../../api/call.ts'
import { pagesOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { ChangeButton } from '../../layout/change-buttons.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { TextField } from '../../ui/field.tsx'
import { FilterBar, SearchFilter } from '../../ui/filter-bar.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'

/** The addresses to which Belfry sends no alerts and no invitations. */
export function BlockedAddresses(): ReactNode {
  const filters = useFilters(['search'])
  const list = useInfiniteQuery(pagesOf('listBlockedAddresses', { query: { search: filters.first('search') } }))
  return (
    <ResourceList
      title="Blocked addresses"
      description="Belfry sends no alerts and no invitations to these email addresses. Mails about their own accounts are still sent."
      list={list}
      create={{ label: 'Block address', form: <BlockForm /> }}
      filters={
        <FilterBar filters={filters}>
          <SearchFilter filters={filters} name="search" label="Email address" />
        </FilterBar>
      }
      empty={{
        icon: MailX,
        title: 'No blocked addresses',
        children: 'Recipients who have unsubscribed from alerts are not listed here.',
        actions: null,
      }}
      rowKey={({ email }) => email}
      columns={[
        { header: 'Email address', cell: ({ email }) => email },
        { header: 'Blocked', cell: ({ blocked_at }) => <RelativeTime at={blocked_at} /> },
      ]}
      actions={({ email }) => (
        <ChangeButton
          text="Unblock"
          run={() => call('unblockAddress', { body: { email } })}
          done={`${email} is no longer blocked`}
        />
      )}
    />
  )
}

function BlockForm(): ReactNode {
  const form = useForm({
    read: fields => {
      const reason = fields('reason').trim()
      return { email: fields('email').trim(), ...(reason === '' ? {} : { reason }) }
    },
    submit: body => call('blockAddress', { body }),
    done: (_, { email }) => `${email} is blocked`,
  })
  return (
    <Form form={form} action="Block address">
      <TextField label="Email address" name="email" type="email" autoFocus />
      <TextField label="Reason (only in the operator log)" name="reason" maxLength={500} />
    </Form>
  )
}

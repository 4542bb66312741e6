import { useInfiniteQuery } from '@tanstack/react-query'
import { MailX } from 'lucide-react'
import type { ReactNode } from 'react'
import { blockAddress, blockedAddressesQuery, unblockAddress } from '../../api/operator.ts'
import { Form } from '../../forms/form.tsx'
import { useChange } from '../../forms/use-change.ts'
import { useForm } from '../../forms/use-form.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { FilterBar, SearchFilter } from '../../ui/filter-bar.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'

const affects = [['blocked-addresses'], ['operator-log']]

/** The addresses to which Belfry sends no alerts and no invitations. */
export function BlockedAddresses(): ReactNode {
  const filters = useFilters(['search'])
  const list = useInfiniteQuery(blockedAddressesQuery({ search: filters.first('search') }))
  return (
    <ResourceList
      title="Blocked addresses"
      description="Belfry sends no alerts and no invitations to these email addresses. Mails about their own accounts are still sent."
      list={list}
      create={{ label: 'Block address', refusal: null, form: close => <BlockForm onDone={close} /> }}
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
      rows={list.data?.items}
      rowKey={({ email }) => email}
      columns={[
        { id: 'email', header: 'Email address', cell: ({ email }) => email },
        { id: 'at', header: 'Blocked', cell: ({ blocked_at }) => <RelativeTime at={blocked_at} /> },
        { id: 'actions', header: '', align: 'end', cell: ({ email }) => <UnblockButton email={email} /> },
      ]}
    />
  )
}

function BlockForm({ onDone }: { onDone(): void }): ReactNode {
  const form = useForm({
    read: fields => {
      const reason = fields('reason').trim()
      return { email: fields('email').trim(), ...(reason === '' ? {} : { reason }) }
    },
    submit: blockAddress,
    onDone,
    done: (_, { email }) => `${email} is blocked`,
    affects,
  })
  return (
    <Form form={form} action="Block address">
      <Field label="Email address" error={form.errors.email}>
        <TextInput name="email" type="email" autoFocus />
      </Field>
      <Field label="Reason (only in the operator log)" error={form.errors.reason}>
        <TextInput name="reason" maxLength={500} />
      </Field>
    </Form>
  )
}

function UnblockButton({ email }: { email: string }): ReactNode {
  const unblock = useChange({
    run: () => unblockAddress({ email }),
    done: () => `${email} is no longer blocked`,
    affects,
  })
  return (
    <Button kind="secondary" isPending={unblock.isPending} onClick={() => unblock.mutate()}>
      Unblock
    </Button>
  )
}

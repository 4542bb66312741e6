import { useInfiniteQuery } from '@tanstack/react-query'
import { MailX } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { blockAddress, blockedAddressesQuery, unblockAddress } from '../../api/operator.ts'
import { Form } from '../../forms/form.tsx'
import { useChange } from '../../forms/use-change.ts'
import { useForm } from '../../forms/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { FilterBar, SearchFilter } from '../../ui/filter-bar.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'

const affects = [['blocked-addresses'], ['operator-log']]

/** The addresses to which Belfry sends no alerts and no invitations. */
export function BlockedAddresses(): ReactNode {
  const filters = useFilters(['search'])
  const [isOpen, setIsOpen] = useState(false)
  const list = useInfiniteQuery(blockedAddressesQuery({ search: filters.first('search') }))
  return (
    <>
      <PageHeader
        title="Blocked addresses"
        description="Belfry sends no alerts and no invitations to these email addresses. Mails about their own accounts are still sent."
        actions={
          <Button kind="primary" onClick={() => setIsOpen(true)}>
            Block address
          </Button>
        }
      />
      <FilterBar filters={filters}>
        <SearchFilter filters={filters} name="search" label="Email address" />
      </FilterBar>
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.items.length === 0 ? (
        <EmptyState icon={<MailX size={22} aria-hidden="true" />} title="No blocked addresses">
          Recipients who have unsubscribed from alerts are not listed here.
        </EmptyState>
      ) : (
        <Table
          label="Blocked addresses"
          rows={list.data?.items}
          rowKey={({ email }) => email}
          columns={[
            { id: 'email', header: 'Email address', cell: ({ email }) => email },
            { id: 'at', header: 'Blocked', cell: ({ blocked_at }) => <RelativeTime at={blocked_at} /> },
            { id: 'actions', header: '', align: 'end', cell: ({ email }) => <UnblockButton email={email} /> },
          ]}
        />
      )}
      <LoadMore {...list} />
      <BlockDialog isOpen={isOpen} onClose={() => setIsOpen(false)} />
    </>
  )
}

function BlockDialog({ isOpen, onClose }: { isOpen: boolean; onClose(): void }): ReactNode {
  const form = useForm({
    read: fields => {
      const reason = fields('reason').trim()
      return { email: fields('email').trim(), ...(reason === '' ? {} : { reason }) }
    },
    submit: blockAddress,
    onDone: onClose,
    done: (_, { email }) => `${email} is blocked`,
    affects,
  })
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Block address">
      <Form form={form} action="Block address">
        <Field label="Email address" error={form.errors.email}>
          <TextInput name="email" type="email" autoFocus />
        </Field>
        <Field label="Reason (only in the operator log)" error={form.errors.reason}>
          <TextInput name="reason" maxLength={500} />
        </Field>
      </Form>
    </Dialog>
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

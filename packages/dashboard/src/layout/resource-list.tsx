import { Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useSearchParams } from 'react-router'
import { Button } from '../ui/button.tsx'
import { Dialog, type DialogProps } from '../ui/dialog.tsx'
import { EmptyState, type EmptyStateProps } from '../ui/empty-state.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { LoadMore, type LoadMoreProps } from '../ui/pagination.tsx'
import { Problem } from '../ui/problem.tsx'
import { Table, type TableProps } from '../ui/table.tsx'

type ResourceListProps<Row> = Omit<TableProps<Row>, 'label'> & {
  /** The heading of the page, and the accessible name of the table. */
  title: string
  description: string
  /** The query of the rows. */
  list: { error: unknown; refetch(): unknown } & (LoadMoreProps | { hasNextPage?: never })
  /** The button that creates a row, and the dialog that it opens. */
  create?: CreateDialog
  /** Other buttons of the page. */
  buttons?: ReactNode
  /** Shown above the table. */
  filters?: ReactNode
  /** Shown in place of an empty table, with the button that creates a row. */
  empty: EmptyStateProps
  children?: ReactNode
}

type CreateDialog = Pick<DialogProps, 'description' | 'isWide'> & {
  label: string
  /** Default: a plus sign. */
  icon?: ReactNode
  refusal: string | null
  /** The title of the dialog. Default: the label. */
  title?: string
  /** Returns the content of the dialog. */
  form(close: () => void): ReactNode
}

/** A page with a table. `?new=1` opens the dialog that creates a row. */
export function ResourceList<Row>(props: ResourceListProps<Row>): ReactNode {
  const { title, description, list, create, buttons, filters, empty, children, ...table } = props
  const [params, setParams] = useSearchParams()
  const [isCreating, setIsCreating] = useState(false)
  const close = () => {
    setIsCreating(false)
    if (!params.has('new')) return
    params.delete('new')
    setParams(params, { replace: true })
  }
  const button = create && (
    <Button
      kind="primary"
      icon={create.icon ?? <Plus size={16} />}
      refusal={create.refusal}
      onClick={() => setIsCreating(true)}
    >
      {create.label}
    </Button>
  )
  return (
    <>
      <PageHeader title={title} description={description} actions={button ?? buttons} />
      {filters}
      {Boolean(list.error) && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {table.rows?.length === 0 ? <EmptyState actions={button} {...empty} /> : <Table {...table} label={title} />}
      {list.hasNextPage && <LoadMore {...list} />}
      {children}
      {create && (
        <Dialog
          isOpen={isCreating || params.has('new')}
          onClose={close}
          title={create.title ?? create.label}
          description={create.description}
          isWide={create.isWide ?? false}
        >
          {create.form(close)}
        </Dialog>
      )}
    </>
  )
}

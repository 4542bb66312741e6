import { Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useSearchParams } from 'react-router'
import { Button } from '../ui/button.tsx'
import { Dialog, type DialogProps } from '../ui/dialog.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { LoadMore, type LoadMoreProps } from '../ui/pagination.tsx'
import { Problem } from '../ui/problem.tsx'
import { Table, type TableProps } from '../ui/table.tsx'

type ResourceListProps<Row> = Required<Pick<TableProps<Row>, 'rows' | 'rowKey' | 'columns' | 'actions'>> & {
  /** The heading of the page, and the accessible name of the table. */
  title: string
  description: string
  /** The query of the rows. */
  list: { error: unknown; refetch(): unknown } & (LoadMoreProps | { hasNextPage?: never })
  /** The button that creates a row, and the dialog that it opens. */
  create: CreateDialog
  /** Returns what replaces an empty table. Takes the button. */
  empty(create: ReactNode): ReactNode
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

/** A page with a table of things that users create, edit and delete. `?new=1` opens the dialog that creates one. */
export function ResourceList<Row>(props: ResourceListProps<Row>): ReactNode {
  const { title, description, list, rows, rowKey, columns, create, empty, actions, children } = props
  const [params, setParams] = useSearchParams()
  const [isCreating, setIsCreating] = useState(false)
  const close = () => {
    setIsCreating(false)
    if (!params.has('new')) return
    params.delete('new')
    setParams(params, { replace: true })
  }
  const { label, icon = <Plus size={16} />, refusal, title: dialogTitle = label, form, ...dialog } = create
  const button = (
    <Button kind="primary" icon={icon} refusal={refusal} onClick={() => setIsCreating(true)}>
      {label}
    </Button>
  )
  return (
    <>
      <PageHeader title={title} description={description} actions={button} />
      {Boolean(list.error) && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {rows?.length === 0 ? (
        empty(button)
      ) : (
        <Table label={title} rows={rows} rowKey={rowKey} columns={columns} actions={actions} />
      )}
      {list.hasNextPage && <LoadMore {...list} />}
      {children}
      <Dialog {...dialog} isOpen={isCreating || params.has('new')} onClose={close} title={dialogTitle}>
        {form(close)}
      </Dialog>
    </>
  )
}

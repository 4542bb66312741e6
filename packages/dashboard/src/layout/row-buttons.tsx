import { type ReactNode, useState } from 'react'
import { ConfirmChange, type ConfirmChangeProps } from '../forms/confirm-change.tsx'
import { IconButton } from '../ui/button.tsx'
import { Dialog, type DialogProps } from '../ui/dialog.tsx'

type RowButton = {
  /** The accessible name of the button. */
  label: string
  icon: ReactNode
  refusal?: string | null
}

type DialogButtonProps = RowButton &
  Omit<DialogProps, 'isOpen' | 'onClose' | 'children'> & {
    /** Returns the content of the dialog. */
    form(close: () => void): ReactNode
  }

/** A button of a row that opens a dialog. */
export function DialogButton({ label, icon, refusal, form, ...dialog }: DialogButtonProps): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  const close = () => setIsOpen(false)
  return (
    <>
      <IconButton label={label} icon={icon} refusal={refusal} onClick={() => setIsOpen(true)} />
      <Dialog {...dialog} isOpen={isOpen} onClose={close}>
        {form(close)}
      </Dialog>
    </>
  )
}

type ConfirmButtonProps = RowButton &
  Pick<ConfirmChangeProps<true>, 'description' | 'action' | 'affects'> & {
    /** The question. Default: the label with a question mark. */
    title?: string
    run(): Promise<unknown>
    /** The text of the notification. */
    done: string
  }

/** A button of a row that makes a change after a confirmation. */
export function ConfirmButton(props: ConfirmButtonProps): ReactNode {
  const { label, icon, refusal, title = `${label}?`, done, ...change } = props
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <IconButton label={label} icon={icon} refusal={refusal} onClick={() => setIsOpen(true)} />
      <ConfirmChange
        {...change}
        of={isOpen || null}
        onClose={() => setIsOpen(false)}
        title={() => title}
        done={() => done}
      />
    </>
  )
}

import type { FocusEvent, ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { useCloseDialog } from '../ui/dialog.tsx'
import { FieldErrorsContext } from '../ui/field.tsx'
import { FormProblem } from '../ui/problem.tsx'
import styles from './form.module.css'
import type { Form as FormState } from './use-form.ts'

type FormProps = {
  form: FormState
  action: string
  /** The label of the button that closes the dialog around the form. Default: Cancel. */
  cancel?: string
  children?: ReactNode
  isWide?: boolean
  /** Whether it cannot be undone. */
  isDangerous?: boolean
  /** Shown next to the submit button. */
  more?: ReactNode
  /** Other buttons that submit. Enter presses the first submit button of a form, so these follow it. */
  after?: ReactNode
  /** Keeps the buttons and the notice in view. */
  isLong?: boolean
  /** Shown above the buttons. */
  notice?: ReactNode
  onBlur?(event: FocusEvent): void
}

/** A form: its fields, the error of the whole form, and its buttons. */
export function Form(props: FormProps): ReactNode {
  const { form, action, cancel = 'Cancel', children, isWide, isDangerous, more, after, isLong, notice, onBlur } = props
  const closeDialog = useCloseDialog()
  return (
    <form className={styles.form} onSubmit={form.onSubmit} onInput={form.onInput} onBlur={onBlur} noValidate>
      <FieldErrorsContext value={form.errors}>{children}</FieldErrorsContext>
      <FormProblem problem={form.problem} />
      <div className={classNames(styles.foot, isLong && styles.sticky)}>
        {notice}
        {/* From the end of the line, where the main button is. */}
        <div className={styles.actions}>
          <Button
            type="submit"
            kind={isDangerous ? 'danger' : 'primary'}
            isWide={isWide}
            isPending={form.isPending}
            aria-keyshortcuts="Control+Enter"
          >
            {action}
          </Button>
          {after}
          {closeDialog && !isWide && <Button onClick={closeDialog}>{cancel}</Button>}
          {more}
        </div>
      </div>
    </form>
  )
}

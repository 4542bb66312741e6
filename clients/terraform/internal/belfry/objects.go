package belfry

import "encoding/json"

// Object is an object of a workspace: the fields of an answer, by their names.
type Object map[string]json.RawMessage

// Text returns a field that is text, and nil for null.
func (o Object) Text(name string) *string {
	var text *string
	if json.Unmarshal(o[name], &text) != nil {
		return nil
	}
	return text
}

// Is returns whether a field has a text.
func (o Object) Is(name, text string) bool {
	value := o.Text(name)
	return value != nil && *value == text
}

package provider

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"terraform-provider-belfry/internal/belfry"
)

// report adds an error of the API to the diagnostics. Each invalid field becomes an error at its attribute.
func report(diagnostics *diag.Diagnostics, kind string, err error, attributes map[string]schema.Attribute) {
	var refusal *belfry.Error
	if !errors.As(err, &refusal) {
		diagnostics.AddError("Belfry cannot be reached", err.Error())
		return
	}
	source := fmt.Sprintf("\n\nCode %s, request %s.", refusal.Code, refusal.RequestID)
	if _, hasKey := attributes["key"]; hasKey && refusal.Code == "key_in_use" {
		diagnostics.AddAttributeError(path.Root("key"), "The key is in use",
			fmt.Sprintf("Another %s has this key. Import it, or choose another key.%s", kind, source))
		return
	}
	for _, field := range refusal.Errors {
		if at, ok := attributePath(attributes, field.Path); ok {
			diagnostics.AddAttributeError(at, "Invalid "+kind, at.String()+": "+field.Message+source)
		} else {
			diagnostics.AddError("Invalid "+kind, field.Message+source)
		}
	}
	if len(refusal.Errors) == 0 {
		diagnostics.AddError("Belfry refused the request for a "+kind, refusal.Detail+source)
	}
}

// renamed returns an error whose fields have the name of another attribute.
func renamed(err error, field, attribute string) error {
	var refusal *belfry.Error
	if errors.As(err, &refusal) {
		for i := range refusal.Errors {
			if refusal.Errors[i].Path == field {
				refusal.Errors[i].Path = attribute
			}
		}
	}
	return err
}

// isOwnKeyInUse returns whether a key is in use because an earlier attempt, whose answer was lost, may have succeeded.
func isOwnKeyInUse(err error) bool {
	var refusal *belfry.Error
	return errors.As(err, &refusal) && refusal.Code == "key_in_use" && refusal.FollowsLostAnswer
}

// attributePath returns the attribute of a field of the API, such as "retry.max_retries", or the nearest one that contains it.
func attributePath(attributes map[string]schema.Attribute, field string) (path.Path, bool) {
	name, rest, _ := strings.Cut(field, ".")
	attribute, ok := attributes[name]
	if !ok {
		return path.Empty(), false
	}
	at := path.Root(name)
	for rest != "" {
		switch parent := attribute.(type) {
		case schema.SingleNestedAttribute:
			name, rest, _ = strings.Cut(rest, ".")
			if attribute, ok = parent.Attributes[name]; !ok {
				return at, true
			}
			at = at.AtName(name)
		case schema.MapAttribute:
			return at.AtMapKey(rest), true // a header may have dots in its name
		default:
			return at, true
		}
	}
	return at, true
}

package provider

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/resourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// addWriteOnly makes an attribute sensitive, and adds a second one, which is not stored, with its version.
func addWriteOnly(attributes map[string]schema.Attribute, name string) {
	stored := attributes[name].(schema.StringAttribute)
	stored.Sensitive = true
	hidden := stored
	stored.MarkdownDescription += " It is stored in the state."
	hidden.MarkdownDescription += " It is not stored. Needs Terraform 1.11 or OpenTofu 1.11."
	hidden.WriteOnly = true
	version := stringvalidator.AlsoRequires(path.MatchRoot(name + "_wo_version"))
	hidden.Validators = append([]validator.String{version}, stored.Validators...)
	attributes[name], attributes[name+"_wo"] = stored, hidden
	attributes[name+"_wo_version"] = schema.Int64Attribute{
		MarkdownDescription: "Another number sends `" + name + "_wo` again.",
		Optional:            true,
		Validators:          []validator.Int64{int64validator.AlsoRequires(path.MatchRoot(name + "_wo"))},
	}
}

// exactlyOneOf requires an attribute, its write-only form or one of the others.
func exactlyOneOf(name string, others ...path.Expression) []resource.ConfigValidator {
	all := append([]path.Expression{path.MatchRoot(name), path.MatchRoot(name + "_wo")}, others...)
	return []resource.ConfigValidator{resourcevalidator.ExactlyOneOf(all...)}
}

// given returns the attribute that has the value in a configuration; only there a write-only attribute has its value.
func (v values) given(name string) (attribute string, value types.String) {
	if v.text(name).IsNull() {
		name += "_wo"
	}
	return name, v.text(name)
}

// forget makes the next plan set the value again.
func (v values) forget(name string) {
	v[name], v[name+"_wo_version"] = types.StringNull(), types.Int64Null()
}

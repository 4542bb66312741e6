package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// dataAttributes returns the attributes of a data source, which an answer fills in.
func (all fields) dataAttributes() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{}
	for name, one := range all {
		attributes[name] = one.dataAttribute()
	}
	return attributes
}

func (f field) dataAttribute() schema.Attribute {
	switch f.initial().(type) {
	case types.Bool:
		return schema.BoolAttribute{MarkdownDescription: f.Text, Computed: true}
	case types.Int64:
		return schema.Int64Attribute{MarkdownDescription: f.Text, Computed: true}
	case types.Set:
		return schema.SetAttribute{MarkdownDescription: f.Text, ElementType: types.StringType, Computed: true}
	default:
		return schema.StringAttribute{MarkdownDescription: f.Text, Computed: true}
	}
}

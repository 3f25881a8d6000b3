"""The syntax that texts are made of. A tree that has any other kind of node is refused: what no text
of ours has may bring names, or change what others mean (an include, a macro, an operator of its own).
The grammars call them so.
"""

FORMS = {
    "cpp": frozenset(
        """
        abstract_function_declarator abstract_pointer_declarator access_specifier
        alias_declaration argument_list array_declarator assignment_expression attribute
        attribute_declaration auto binary_expression call_expression cast_expression
        class_specifier compound_literal_expression compound_statement condition_clause
        conditional_expression declaration declaration_list decltype dependent_type
        else_clause explicit_function_specifier expression_statement false
        field_declaration field_declaration_list field_expression field_identifier
        field_initializer field_initializer_list for_statement friend_declaration
        function_declarator function_definition identifier if_statement init_declarator
        initializer_list lambda_capture_specifier lambda_default_capture
        lambda_expression namespace_definition namespace_identifier
        nested_namespace_specifier noexcept null number_literal operator_name
        optional_type_parameter_declaration parameter_declaration parameter_list
        parameter_pack_expansion parenthesized_expression placeholder_type_specifier
        pointer_declarator pointer_expression preproc_arg preproc_call preproc_def
        preproc_defined preproc_directive preproc_elif preproc_else preproc_function_def
        preproc_if preproc_ifdef preproc_include preproc_params primitive_type
        qualified_identifier reference_declarator return_statement sized_type_specifier
        sizeof_expression static_assert_declaration storage_class_specifier
        string_content string_literal struct_specifier subscript_argument_list
        subscript_expression system_lib_string template_argument_list
        template_declaration template_function template_parameter_list template_type
        this translation_unit true type_definition type_descriptor type_identifier
        type_parameter_declaration type_qualifier unary_expression update_expression
        variadic_declarator variadic_parameter_declaration
        variadic_type_parameter_declaration
        """.split()
    ),
    "rust": frozenset(
        """
        abstract_type arguments array_expression array_type assignment_expression
        attribute attribute_item binary_expression block bounded_type call_expression
        closure_expression closure_parameters compound_assignment_expr const_item
        declaration_list doc_comment else_clause expression_statement field_declaration
        field_declaration_list field_expression field_identifier field_initializer
        field_initializer_list for_expression function_item function_modifiers
        generic_type identifier if_expression impl_item index_expression integer_literal
        let_declaration macro_invocation mutable_specifier outer_doc_comment_marker
        parameter parameters parenthesized_expression primitive_type range_expression
        reference_expression reference_type return_expression scoped_identifier
        scoped_type_identifier self self_parameter shorthand_field_initializer
        slice_pattern source_file string_content string_literal struct_expression
        struct_item token_tree trait_bounds tuple_expression tuple_pattern tuple_type
        type_arguments type_binding type_cast_expression type_identifier type_item
        type_parameter type_parameters unary_expression use_declaration
        visibility_modifier where_clause where_predicate while_expression
        """.split()
    ),
    "fortran": frozenset(
        """
        argument_list array_literal assignment_statement associate_statement association
        association_list call_expression concurrent_control concurrent_header
        concurrent_statement contains_statement do_loop do_statement else_clause
        end_associate_statement end_do_loop_statement end_function_statement
        end_if_statement end_module_statement end_subroutine_statement extent_specifier
        function function_result function_statement identifier if_statement
        implicit_statement included_items init_declarator internal_procedures
        intrinsic_type kind logical_expression math_expression module module_name
        module_statement name none number_literal parameters parenthesized_expression
        private_statement procedure_qualifier public_statement relational_expression
        size sized_declarator subroutine subroutine_call subroutine_statement
        translation_unit type_qualifier unary_expression use_statement
        variable_declaration while_statement
        """.split()
    ),
    "julia": frozenset(
        """
        argument_list assignment binary_expression call_expression
        comprehension_expression const_statement content curly_expression
        export_statement field_expression for_binding for_clause function_definition
        identifier if_statement index_expression integer_literal let_binding
        let_statement macro_argument_list macro_identifier macrocall_expression
        module_definition named_field operator parametrized_type_expression
        parenthesized_expression quote_expression range_expression return_statement
        signature source_file string_literal struct_definition ternary_expression
        tuple_expression type_head typed_expression unary_expression vector_expression
        where_expression
        """.split()
    ),
    "javascript": frozenset(
        """
        arguments array assignment_expression augmented_assignment_expression
        binary_expression call_expression export_statement expression_statement
        for_statement formal_parameters function_declaration identifier if_statement
        lexical_declaration member_expression new_expression number object pair
        parenthesized_expression program property_identifier return_statement
        shorthand_property_identifier statement_block subscript_expression
        ternary_expression unary_expression variable_declarator while_statement
        """.split()
    ),
}

"""What texts are made of, for each language: every kind of node, and what may stand in it, in which
order. A tree with anything else is refused: what no text of ours has may bring names, leave values out
or change what others mean (a hole in an array, `async`, an include, a macro, an operator of its own).

A line `kind: ...` says what children nodes of a kind have: kinds of nodes as the grammar calls them,
'tokens' in quotes, ~text that the grammar has no node for, and ( | )* + ? as in regular expressions.
A line `kind ~ pattern` says what text nodes of a kind have; what is inside of them is not looked at.
A line `parent/kind ..` is of nodes of the kind in that parent alone; a parent that is the
preprocessor's branch stands for what the branch is in, too. `$name = ...` is a part of later lines. A
later line takes the place of an earlier one of the same name. What is longer goes on in the next line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

TOKEN = re.compile(r"'[^']+'|~\S+|\$\w+|\w+|[()|*+?]")
LINE = re.compile(r"([$/\w]+)( = |: | ~ )(.*)")


@dataclass
class Forms:
    """The forms of a language. inner: of a kind of node, or of a parent/kind, the sequences of its
    children, each symbol with a space behind it, as a regular expression; leaves: that of the texts; joint:
    the token that joins lines."""

    inner: dict[str, str] = field(default_factory=dict)
    leaves: dict[str, str] = field(default_factory=dict)
    joint: str = ""

    def allow(self, keys: Sequence[str], text: str, symbols: Sequence[str]) -> tuple[bool, bool]:
        """(whether a node is allowed, whether what is inside of it is looked at, too). keys: what it may
        be listed by, the first one that is listed counts; symbols: of its children, none for a leaf."""
        for key in keys:
            inner, leaf = self.inner.get(key), self.leaves.get(key)
            if inner is not None and symbols:
                return re.fullmatch(inner, "".join(f"{s} " for s in symbols)) is not None, True
            if leaf is not None:
                return re.fullmatch(leaf, text, re.DOTALL) is not None, False
        return False, False


def forms(*texts: str, joint: str = "") -> Forms:
    """What these lines say."""
    found, parts, rules = Forms(joint=joint), dict[str, str](), dict[str, str]()
    for line in "".join(texts).replace("\n    ", " ").split("\n"):
        match = LINE.fullmatch(line)
        if match is None and line:
            raise ValueError(line)
        name, sign, said = match.groups() if match else ("", "", "")
        if sign == " ~ ":
            found.leaves[name] = said
        elif sign == " = ":
            parts[name] = f"(?:{_pattern(said, parts)})"
        elif sign == ": ":
            rules[name] = said
    found.inner = {name: _pattern(said, parts) for name, said in rules.items()}
    return found


def _pattern(said: str, parts: dict[str, str]) -> str:
    """A regular expression of symbols with a space behind each."""
    found = ""
    for token in TOKEN.findall(said):
        if token in ("(", "|", ")", "*", "+", "?"):
            found += "(?:" if token == "(" else token
        else:
            found += parts[token] if token[0] == "$" else f"(?:{re.escape(token)} )"
    return found


JAVASCRIPT = r"""
$value = identifier | number | call_expression | binary_expression | unary_expression
    | ternary_expression | parenthesized_expression | subscript_expression | member_expression
$operator = '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<<' | '>>' | '>>>' | '<' | '<=' | '>'
    | '>=' | '===' | '!==' | '&&' | '||'
program: (lexical_declaration | function_declaration | export_statement)+
export_statement: 'export' function_declaration
function_declaration: 'function' identifier formal_parameters statement_block
formal_parameters: '(' (identifier (',' identifier)* ','?)? ')'
statement_block: '{' (expression_statement | lexical_declaration | for_statement | while_statement
    | if_statement | return_statement)+ '}'
expression_statement: (assignment_expression | augmented_assignment_expression) ';'
lexical_declaration: ('const' | 'let') variable_declarator ';'
variable_declarator: identifier '=' ($value | new_expression)
assignment_expression: (subscript_expression '=' (call_expression | member_expression)
    | array_pattern '=' call_expression | identifier '=' $value)
array_pattern: '[' subscript_expression (',' subscript_expression)* ']'
augmented_assignment_expression: identifier ('+=' | '-=') $value
for_statement: 'for' '(' lexical_declaration binary_expression ';' augmented_assignment_expression ')'
    statement_block
while_statement: 'while' parenthesized_expression expression_statement
if_statement: 'if' parenthesized_expression return_statement
return_statement: 'return' ($value | array | object) ';'
array: '[' $value (',' $value)* ','? ']'
object: '{' (pair | shorthand_property_identifier) (',' (pair | shorthand_property_identifier))* ','? '}'
pair: property_identifier ':' $value
binary_expression: $value $operator $value
unary_expression: ('-' | '~' | '!') $value
ternary_expression: $value '?' $value ':' $value
parenthesized_expression: '(' $value ')'
call_expression: (identifier | member_expression) arguments
member_expression: identifier '.' property_identifier
new_expression: 'new' identifier arguments
subscript_expression: identifier '[' $value ']'
arguments: '(' ($value (',' $value)* ','?)? ')'
identifier ~ [\w$]+
property_identifier ~ [\w$]+
shorthand_property_identifier ~ [\w$]+
number ~ (0x[0-9a-fA-F]+|0|[1-9][0-9]*)n?
"""

JULIA = r'''
$value = identifier | integer_literal | call_expression | binary_expression | unary_expression
    | ternary_expression | parenthesized_expression | index_expression | field_expression
    | broadcast_call_expression
source_file: module_definition
module_definition: 'module' identifier export_statement (const_statement | string_literal
    | macrocall_expression | function_definition | assignment | struct_definition)* 'end'
export_statement: 'export' identifier (',' identifier)*
const_statement: 'const' assignment
string_literal: '"""' content ~"""
argument_list/string_literal: '"' content ~"
macrocall_expression: (identifier '.')? macro_identifier macro_argument_list
macro_identifier: '@' identifier
macro_argument_list: function_definition | call_expression | index_expression | assignment
function_definition: 'function' signature (assignment | call_expression | if_statement
    | macrocall_expression)* return_statement 'end'
struct_definition: 'struct' type_head typed_expression+ function_definition? 'end'
struct_definition/function_definition: 'function' signature (call_expression | if_statement)*
    return_statement 'end'
type_head: binary_expression | identifier | parametrized_type_expression
signature: where_expression | call_expression | typed_expression
where_expression: (call_expression | typed_expression) 'where' curly_expression
typed_expression: identifier '::' (identifier | parametrized_type_expression)
    | call_expression '::' (identifier | parametrized_type_expression)
parametrized_type_expression: identifier curly_expression
$parameter = identifier | integer_literal | binary_expression | tuple_expression
    | parametrized_type_expression
curly_expression: '{' $parameter (',' $parameter)* '}'
assignment: (identifier | call_expression | index_expression) operator ($value | tuple_expression)
if_statement: 'if' binary_expression call_expression 'end'
let_statement: 'let' let_binding (',' let_binding)* ~; binary_expression 'end'
let_binding: identifier operator call_expression
return_statement: 'return' ($value | tuple_expression | comprehension_expression
    | macrocall_expression)
tuple_expression: '(' ($value (',' $value)* ','? | quote_expression (',' quote_expression)* ','?
    | named_field (',' named_field)* ','?) ')'
named_field: identifier '=' $value
quote_expression: ':' identifier
comprehension_expression: '[' call_expression for_clause ']'
for_clause: 'for' for_binding (',' for_binding)*
for_binding: identifier operator range_expression
range_expression: $value ':' $value
binary_expression: ($value | parametrized_type_expression) operator
    ($value | parametrized_type_expression | let_statement)
unary_expression: operator $value
ternary_expression: $value '?' $value ':' $value
parenthesized_expression: '(' $value ')'
call_expression: (identifier | field_expression | parametrized_type_expression | operator)
    argument_list
broadcast_call_expression: identifier '.' argument_list
field_expression: identifier '.' identifier
index_expression: (identifier | field_expression) vector_expression
vector_expression: '[' $value (',' $value)* ','? ']'
$argument = $value | typed_expression | string_literal
argument_list: '(' ($argument (',' $argument)* | named_argument)? ')'
named_argument: unary_typed_expression operator identifier
unary_typed_expression: '::' parametrized_type_expression
identifier ~ [\w!]+
integer_literal ~ [0-9]+
content ~ [^$]*
operator ~ [-+*%&|~!<>=÷⊻]|<<|>>|<=|>=|==|!=|&&|\|\||<:|in
'''

FORTRAN = r"""
$number = identifier | number_literal | call_expression | math_expression | unary_expression
    | parenthesized_expression | derived_type_member_expression
$truth = relational_expression | logical_expression
translation_unit: module
module: module_statement use_statement? implicit_statement private_statement public_statement
    derived_type_definition* variable_declaration* internal_procedures end_module_statement
module_statement: 'module' name
end_module_statement: 'end' 'module' name
use_statement: 'use' ',' 'intrinsic' '::' module_name included_items
included_items: ',' 'only' ':' identifier (',' identifier)*
implicit_statement: 'implicit' none
private_statement: 'private'
public_statement: 'public' '::' identifier (',' identifier)*
internal_procedures: contains_statement (function | subroutine)+
contains_statement: 'contains'
function: function_statement variable_declaration+ associate_statement*
    (assignment_statement | do_loop | if_statement)+ end_function_statement
subroutine: subroutine_statement variable_declaration+ associate_statement*
    (assignment_statement | do_loop | if_statement)+ end_subroutine_statement
function_statement: procedure_qualifier ((intrinsic_type | derived_type) 'function' name parameters
    | 'function' name (parameters | '(' ')') function_result | 'function' name parameters)
derived_type_definition: derived_type_statement variable_declaration+ end_type_statement
derived_type_statement: 'type' ',' access_specifier '::' type_name
access_specifier: 'public'
end_type_statement: 'end' 'type' name
derived_type: 'type' '(' type_name ')'
derived_type_member_expression: identifier '%' type_member
subroutine_statement: procedure_qualifier 'subroutine' name parameters
procedure_qualifier: 'elemental' | 'pure'
end_function_statement: 'end' 'function' name
end_subroutine_statement: 'end' 'subroutine' name
function_result: 'result' '(' identifier ')'
parameters: '(' (identifier (',' identifier)*)? ')'
derived_type_definition/variable_declaration: intrinsic_type '::' identifier (',' identifier)*
variable_declaration: (intrinsic_type | derived_type) ('::' identifier (',' identifier)*
    | ',' type_qualifier (',' type_qualifier)? '::' (identifier (',' identifier)* | init_declarator))
intrinsic_type: 'integer' kind? | 'logical'
kind: '(' identifier ')'
type_qualifier: 'intent' '(' ('in' | 'out') ')' | 'dimension' argument_list | 'parameter'
init_declarator: sized_declarator '=' array_literal
sized_declarator: identifier size
size: '(' extent_specifier ')'
extent_specifier: $number ':' $number | ':'
array_literal/intrinsic_type: 'integer' kind?
array_literal: '[' (intrinsic_type '::')? $number (',' $number)* ']'
associate_statement: 'associate' association_list ';' end_associate_statement
association_list: '(' association ')'
association: identifier '=>' identifier
end_associate_statement: 'end' 'associate'
assignment_statement: (identifier | call_expression) '=' ($number | $truth | array_literal)
if_statement: 'if' parenthesized_expression ('then' assignment_statement+ else_clause?
    end_if_statement | assignment_statement)
else_clause: 'else' assignment_statement+
end_if_statement: 'end' 'if'
do_loop: do_statement (assignment_statement | if_statement | subroutine_call)+ end_do_loop_statement
do_statement: 'do' (concurrent_statement | while_statement)
concurrent_statement: concurrent_header
concurrent_header: 'concurrent' '(' concurrent_control (',' concurrent_control)* ')'
concurrent_control: identifier '=' $number ':' $number
while_statement: 'while' parenthesized_expression
end_do_loop_statement: 'end' 'do'
subroutine_call: 'call' identifier argument_list
math_expression: $number ('+' | '-' | '*' | '/') $number
unary_expression: '-' $number
$sign = '==' | '/=' | '<' | '<=' | '>' | '>='
relational_expression: $number $sign $number
logical_expression: ($truth | parenthesized_expression) ('.and.' | '.or.')
    ($truth | parenthesized_expression) | '.not.' ($truth | parenthesized_expression)
parenthesized_expression: '(' ($number | $truth) ')'
call_expression: identifier argument_list
$argument = $number | $truth | extent_specifier
argument_list: '(' $argument (',' $argument)* ')'
number_literal: ~number '_' identifier
type_name ~ \w+
type_member ~ \w+
identifier ~ \w+
name ~ \w+
module_name ~ iso_fortran_env|iso_c_binding
none ~ none
number_literal ~ [0-9]+
"""

RUST = r"""
$value = identifier | integer_literal | binary_expression | call_expression | unary_expression
    | parenthesized_expression | if_expression | type_cast_expression | index_expression
    | field_expression | scoped_identifier
$operator = '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<<' | '>>' | '<' | '<=' | '>' | '>='
    | '==' | '!=' | '&&' | '||'
source_file: (use_declaration | const_item | attribute_item | function_item | struct_item
    | impl_item)+
use_declaration: 'use' scoped_identifier ';'
scoped_identifier: (identifier | scoped_identifier | primitive_type) '::' identifier
const_item: 'const' identifier ':' reference_type '=' reference_expression ';'
attribute_item: '#' '[' attribute ']'
attribute: (identifier | scoped_identifier) token_tree?
token_tree: '(' (identifier ('::' identifier)? (',' identifier)*)? ')' | '(' integer_literal '..='
    '*' identifier ')'
macro_invocation/token_tree: '(' (identifier '.' identifier token_tree '>=' identifier
    | identifier '<' identifier | token_tree '.' identifier token_tree | identifier token_tree) ','
    string_literal ')'
function_item/type_parameters: '<' const_parameter (',' const_parameter)* ','? '>'
const_parameter: 'const' identifier ':' primitive_type
function_item: visibility_modifier function_modifiers 'fn' identifier type_parameters? parameters '->'
    (primitive_type | tuple_type | array_type | type_identifier) block
    | function_modifiers 'fn' identifier parameters '->' primitive_type block
    | visibility_modifier 'fn' identifier parameters '->' bounded_type block
declaration_list/function_item: visibility_modifier? 'fn' identifier parameters '->'
    (primitive_type | type_identifier | array_type | reference_type) block
function_modifiers: 'const'
visibility_modifier: 'pub'
parameters: '(' (parameter (',' parameter)* ','? | self_parameter (',' parameter)* ','?)? ')'
parameter: mutable_specifier? identifier ':' (primitive_type | array_type | type_identifier
    | reference_type)
parameter/reference_type: '&' array_type
self_parameter: '&' mutable_specifier? self
tuple_type: '(' primitive_type (',' primitive_type)* ','? ')'
array_type: '[' (primitive_type ';' integer_literal | type_identifier) ']'
reference_type: '&' (array_type | mutable_specifier? type_identifier)
bounded_type: (bounded_type | abstract_type) '+' type_identifier
abstract_type: 'impl' generic_type
generic_type: (type_identifier | scoped_type_identifier) type_arguments
scoped_type_identifier: scoped_identifier '::' type_identifier
$argument = type_binding | type_identifier | array_type | primitive_type
type_arguments: '<' $argument (',' $argument)* '>'
type_binding: type_identifier '=' (primitive_type | array_type | type_identifier)
struct_item: visibility_modifier 'struct' type_identifier type_parameters? field_declaration_list
type_parameters: '<' type_parameter (',' type_parameter)* '>'
type_parameter: type_identifier
field_declaration_list: '{' (field_declaration ',')+ '}'
field_declaration: visibility_modifier? field_identifier ':' (primitive_type | type_identifier
    | array_type)
impl_item: 'impl' type_parameters (generic_type 'for')? generic_type where_clause declaration_list
where_clause: 'where' where_predicate ','
where_predicate: type_identifier trait_bounds
trait_bounds: ':' generic_type
declaration_list: '{' (type_item | attribute_item | function_item)+ '}'
type_item: 'type' type_identifier '=' type_identifier ';'
block: '{' (let_declaration | expression_statement)* ($value | tuple_expression | struct_expression
    | array_expression | reference_expression)? '}'
let_declaration: 'let' ('_' '=' (identifier | tuple_expression) | mutable_specifier? identifier '='
    $value | slice_pattern '=' identifier) ';'
slice_pattern: '[' identifier (',' identifier)* ','? ']'
tuple_pattern: '(' identifier (',' identifier)* ')'
expression_statement: (compound_assignment_expr | assignment_expression | return_expression
    | macro_invocation) ';' | if_expression | while_expression | for_expression
assignment_expression: identifier '=' $value
compound_assignment_expr: identifier ('>>=' | '-=' | '+=') $value
return_expression: 'return' $value
while_expression: 'while' $value block
for_expression: 'for' tuple_pattern 'in' call_expression block
macro_invocation: identifier '!' token_tree
macro_invocation/identifier ~ assert
if_expression: 'if' $value block else_clause?
else_clause: 'else' (block | if_expression)
tuple_expression: '(' $value (',' $value)* ','? ')'
struct_expression: type_identifier field_initializer_list
$initializer = field_initializer | shorthand_field_initializer
field_initializer_list: '{' $initializer (',' $initializer)* ','? '}'
field_initializer: field_identifier ':' $value
shorthand_field_initializer: identifier
array_expression: '[' $value (',' $value)* ','? ']'
reference_expression: '&' (array_expression | call_expression | mutable_specifier? index_expression
    | identifier | field_expression)
binary_expression: $value $operator $value
unary_expression: ('-' | '!') $value | '*' identifier
parenthesized_expression: '(' ($value | range_expression) ')'
range_expression: $value '..' $value
type_cast_expression: $value 'as' primitive_type
index_expression: $value '[' $value ']'
field_expression: ($value | self | array_expression) '.' field_identifier
call_expression: (identifier | field_expression) arguments
$passed = $value | closure_expression | reference_expression
arguments: '(' ($passed (',' $passed)* ','?)? ')'
closure_expression: 'move' closure_parameters (call_expression | block)
closure_parameters: '|' identifier '|'
string_literal: '"' string_content '"'
identifier ~ (r#)?\w+
field_identifier ~ (r#)?\w+
type_identifier ~ (r#)?\w+
primitive_type ~ [iu](8|16|32|64)|usize|bool
integer_literal ~ (0x[0-9a-f_]+|[0-9][0-9_]*?)_?([iu](8|16|32|64)|usize)?
mutable_specifier ~ mut
self ~ self
string_content ~ [\w ]+
"""

# C, C++, CUDA C and, in C++'s spelling, GLSL.
C_FAMILY = r"""
$value = identifier | number_literal | call_expression | binary_expression | unary_expression
    | conditional_expression | parenthesized_expression | subscript_expression
$operator = '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<<' | '>>' | '<' | '<=' | '>' | '>='
    | '==' | '!=' | '&&' | '||'
$type = primitive_type | type_identifier
$guard = '#ifndef' identifier preproc_def
$end = preproc_elif? '#endif'
translation_unit: preproc_ifdef
preproc_def: '#define' identifier preproc_arg?
preproc_ifdef/preproc_elif: '#elif' binary_expression 'newline' preproc_call
preproc_elif/binary_expression ~ \w+ != 0x[0-9a-f]{8}
preproc_call: preproc_directive preproc_arg
preproc_directive ~ #undef|#error
preproc_arg ~ .*
compound_statement: '{' (declaration | expression_statement | if_statement | for_statement)*
    return_statement? '}'
declaration: type_qualifier? $type init_declarator ';'
init_declarator: identifier '=' $value | array_declarator '=' initializer_list
array_declarator: identifier '[' number_literal ']'
initializer_list: '{' $value (',' $value)* ','? '}'
expression_statement: (assignment_expression | call_expression) ';'
assignment_expression: identifier ('=' | '+=' | '-=' | '>>=') $value
if_statement: 'if' condition_clause (compound_statement else_clause? | return_statement
    | expression_statement)
else_clause: 'else' compound_statement
condition_clause: '(' $value ')'
for_statement: 'for' '(' declaration binary_expression ';' (assignment_expression
    | update_expression) ')' compound_statement
return_statement: 'return' $value ';'
parameter_list: '(' (parameter_declaration (',' parameter_declaration)*)? ')'
parameter_declaration: $type identifier
binary_expression: $value $operator $value
unary_expression: ('-' | '!' | '~') $value
conditional_expression: $value '?' $value ':' $value
parenthesized_expression: '(' $value ')'
call_expression: identifier argument_list
argument_list: '(' ($value (',' $value)*)? ')'
subscript_expression: identifier subscript_argument_list
subscript_argument_list: '[' $value ']'
function_declarator: identifier parameter_list
type_qualifier: 'const'
identifier ~ \w+
type_identifier ~ \w+
field_identifier ~ \w+
primitive_type ~ void|u?int(8|16|32|64)_t|int|bool|size_t
number_literal ~ -?(0x[0-9a-fA-F]+|[0-9]+)[uU]?([lL]|ll|LL)?
"""

# What is told to compilers, in a macro of the file's own.
HINTS = r"""
preproc_elif: '#elif' preproc_defined 'newline' preproc_function_def (preproc_elif | preproc_else)
preproc_else: '#else' preproc_function_def
preproc_function_def: '#define' identifier preproc_params preproc_arg
preproc_params: '(' identifier ')'
preproc_include: '#include' system_lib_string
preproc_elif/preproc_defined ~ defined\((__GNUC__|_MSC_VER)\)
system_lib_string ~ <\w+(\.h)?>
"""

C = r"""
$value = $value | cast_expression | field_expression
preproc_if/preproc_defined ~ defined\(__clang__\)
preproc_if/binary_expression ~ SIZE_MAX < UINT64_MAX
preproc_if: '#if' (preproc_defined 'newline' preproc_function_def preproc_elif
    | binary_expression 'newline' preproc_call) '#endif'
preproc_ifdef: $guard preproc_if? preproc_include* preproc_if? (declaration | function_definition
    | type_definition | preproc_ifdef)+ preproc_call? $end
preproc_ifdef/preproc_ifdef: $guard type_definition preproc_elif '#endif'
type_definition: 'typedef' struct_specifier type_identifier ';'
struct_specifier: 'struct' type_identifier field_declaration_list
field_declaration_list: '{' field_declaration+ '}'
field_declaration: $type field_identifier ';'
function_definition: storage_class_specifier storage_class_specifier $type function_declarator
    compound_statement
parameter_declaration: $type (identifier | pointer_declarator | array_declarator)
    | type_qualifier $type (array_declarator | pointer_declarator)
pointer_declarator: '*' identifier
field_expression: identifier ('.' | '->') field_identifier
storage_class_specifier: 'static' | 'inline'
declaration: storage_class_specifier? type_qualifier? $type init_declarator ';'
init_declarator: identifier '=' ($value | initializer_list) | array_declarator '=' initializer_list
expression_statement: (assignment_expression | call_expression | cast_expression) ';'
assignment_expression: (identifier ('=' | '+=' | '-=' | '>>=') $value
    | pointer_expression '=' call_expression
    | (pointer_expression | subscript_expression | field_expression) '=' $value)
pointer_expression: '*' (update_expression | identifier)
update_expression: '++' identifier | identifier '++'
cast_expression: '(' type_descriptor ')' (identifier | parenthesized_expression | field_expression
    | subscript_expression | cast_expression | call_expression)
type_descriptor: primitive_type
"""

GLSL = r"""
$value = $value | field_expression
preproc_ifdef: $guard (declaration | function_definition | preproc_ifdef)+ $end
preproc_ifdef/preproc_ifdef: $guard struct_specifier ';' preproc_elif '#endif'
struct_specifier: 'struct' type_identifier field_declaration_list
field_declaration_list: '{' field_declaration+ '}'
field_declaration: $type field_identifier ';'
function_definition: $type function_declarator compound_statement
parameter_declaration: $type (identifier | reference_declarator) | type_qualifier $type array_declarator
reference_declarator: '&' identifier
declaration: type_qualifier? $type init_declarator ';' | type_identifier identifier ';'
call_expression: (identifier | primitive_type) argument_list
field_expression: identifier '.' field_identifier
primitive_type ~ void|u?int(32|64)_t|int|bool
"""

# C++ and CUDA C: with views.
OBJECTS = r"""
$type = primitive_type | type_identifier | sized_type_specifier | qualified_identifier
$value = $value | compound_literal_expression | field_expression | pointer_expression | true | false
    | null | parameter_pack_expansion | sizeof_expression
$item = declaration | function_definition | struct_specifier ';' | template_declaration
    | static_assert_declaration
$declarator = function_declarator | reference_declarator | pointer_declarator
struct_specifier: 'struct' type_identifier field_declaration_list
struct_specifier/field_declaration_list: '{' (field_declaration+ function_definition?
    | template_declaration) '}'
class_specifier: 'class' type_identifier field_declaration_list
field_declaration_list: '{' (static_assert_declaration | access_specifier ':' | alias_declaration
    | field_declaration | function_definition | template_declaration | friend_declaration
    | preproc_ifdef)+ '}'
field_declaration: $type (field_identifier | pointer_declarator) ';' | struct_specifier ';'
access_specifier: 'public' | 'private'
alias_declaration: 'using' type_identifier '=' type_descriptor ';'
static_assert_declaration: 'static_assert' '(' binary_expression (',' string_literal)? ')' ';'
sizeof_expression: 'sizeof' '(' type_descriptor ')' | 'sizeof' parenthesized_expression
string_literal: '"' string_content '"'
string_content ~ [\w ]+
template_declaration: 'template' template_parameter_list (class_specifier ';' | function_definition
    | friend_declaration)
template_parameter_list: '<' (type_parameter_declaration (',' optional_type_parameter_declaration)?
    | variadic_type_parameter_declaration | parameter_declaration (',' parameter_declaration)*) '>'
template_parameter_list/parameter_declaration: $type identifier
type_parameter_declaration: 'class' type_identifier?
optional_type_parameter_declaration: 'class' '=' decltype
variadic_type_parameter_declaration: 'class' '...' type_identifier
decltype: 'decltype' '(' call_expression ')'
friend_declaration: 'friend' 'class' type_identifier ';' | 'constexpr' 'friend' function_definition
function_definition: (attribute_declaration? type_qualifier)? $type function_declarator
    compound_statement
field_declaration_list/function_definition: (attribute_declaration storage_class_specifier?
    type_qualifier+ $type $declarator | type_qualifier explicit_function_specifier?
    function_declarator field_initializer_list) compound_statement
template_declaration/function_definition: (attribute_declaration? type_qualifier $type
    function_declarator | type_qualifier explicit_function_specifier? function_declarator
    field_initializer_list) compound_statement
function_declarator: identifier parameter_list noexcept?
    | (field_identifier | operator_name) parameter_list type_qualifier? noexcept
noexcept: 'noexcept'
field_declaration_list/preproc_ifdef: '#ifdef' identifier function_definition '#endif'
compound_statement/preproc_ifdef: '#ifdef' identifier if_statement '#endif'
operator_name: 'operator' ('[]' | '()' | '==')
explicit_function_specifier: 'explicit'
field_initializer_list: ':' field_initializer (',' field_initializer)*
field_initializer: field_identifier argument_list
attribute_declaration: '[[' attribute ']]'
attribute: identifier
parameter_list: '(' (parameter_declaration (',' parameter_declaration)*
    | variadic_parameter_declaration)? ')'
parameter_declaration: attribute_declaration? type_qualifier? ($type | template_type)
    (identifier | reference_declarator | pointer_declarator | array_declarator)
parameter_declaration/array_declarator: parenthesized_declarator '[' number_literal ']'
parenthesized_declarator: '(' reference_declarator ')'
variadic_parameter_declaration: type_identifier variadic_declarator
variadic_declarator: '...' identifier
reference_declarator: '&' (identifier | function_declarator)
pointer_declarator: '*' (identifier | field_identifier | function_declarator)
compound_statement: '{' preproc_ifdef? (declaration | expression_statement | if_statement
    | for_statement)* return_statement? '}'
declaration: storage_class_specifier? type_qualifier? ($type | placeholder_type_specifier)
    init_declarator ';'
placeholder_type_specifier: auto
init_declarator: identifier '=' ($value | lambda_expression) | array_declarator '=' initializer_list
array_declarator: identifier '[' number_literal? ']'
assignment_expression: (identifier ('=' | '+=' | '-=' | '>>=') $value
    | pointer_expression '=' call_expression
    | (subscript_expression | field_expression) '=' $value)
return_statement: 'return' ($value | initializer_list) ';'
call_expression: (identifier | primitive_type | qualified_identifier | template_function
    | parenthesized_expression) argument_list
argument_list: '(' ($value (',' $value)*)? ')'
compound_literal_expression: $type initializer_list
field_expression: identifier '.' field_identifier
pointer_expression: '*' (this | update_expression)
update_expression: '++' identifier | identifier '++'
parameter_pack_expansion: (call_expression | binary_expression) '...'
subscript_expression: (identifier | qualified_identifier) subscript_argument_list
lambda_expression: lambda_capture_specifier abstract_function_declarator compound_statement
lambda_capture_specifier: '[' lambda_default_capture ']'
lambda_default_capture: '='
abstract_function_declarator: parameter_list noexcept
abstract_pointer_declarator: '*' (type_qualifier? abstract_pointer_declarator)?
template_function: identifier template_argument_list
template_type: type_identifier template_argument_list
template_argument_list: '<' type_descriptor '>'
type_descriptor: ($type | dependent_type) abstract_pointer_declarator?
dependent_type: 'typename' qualified_identifier
qualified_identifier: namespace_identifier '::' (type_identifier | identifier | qualified_identifier
    | template_function)
sized_type_specifier: 'long' 'long' | 'unsigned' ('long' 'long' | 'short' | primitive_type)? | 'short'
    | 'signed' primitive_type
sized_type_specifier/primitive_type ~ char
storage_class_specifier: 'static'
type_qualifier: 'const' | 'constexpr'
primitive_type ~ void|u?int(8|16|32|64)_t|int|bool|size_t|double|float
namespace_identifier ~ \w+
auto ~ auto
this ~ this
null: 'nullptr'
true ~ true
false ~ false
"""

CPP = r"""
preproc_if/preproc_defined ~ defined\(__clang__\)
preproc_if/binary_expression ~ __cplusplus >= 202002L|defined\(__cpp_lib_ranges\) && \(!defined\(__clang__\) \|\| __clang_major__ >= 16\)
preproc_ifdef: $guard preproc_if? preproc_include+ preproc_if? namespace_definition preproc_call? $end
preproc_if: '#if' (preproc_defined 'newline' preproc_function_def preproc_elif
    | binary_expression 'newline' preproc_include) '#endif'
declaration_list/preproc_if: '#if' binary_expression 'newline' function_definition '#endif'
declaration_list/function_definition: (attribute_declaration? type_qualifier)? ($type
    | placeholder_type_specifier) function_declarator compound_statement
namespace_definition: 'namespace' (namespace_identifier | nested_namespace_specifier) declaration_list
nested_namespace_specifier: namespace_identifier '::' (namespace_identifier
    | nested_namespace_specifier)
declaration_list: '{' (namespace_definition | preproc_if | preproc_ifdef | $item)+ '}'
declaration_list/preproc_ifdef: $guard struct_specifier ';' preproc_elif '#endif'
qualified_identifier: namespace_identifier '::' (type_identifier | identifier | qualified_identifier
    | template_function | template_type)
qualified_identifier/template_type: type_identifier template_argument_list
template_type/template_argument_list: '<' type_descriptor (',' number_literal)? '>'
"""

CUDA = r"""
preproc_if/binary_expression ~ defined\(__clang__\) \|\| defined\(__CUDA_ARCH__\)|!defined\(__CUDACC_RTC__\) && !defined\(__HIPCC_RTC__\)
preproc_ifdef: $guard preproc_if? preproc_if? preproc_if? static_assert_declaration? preproc_ifdef
    ($item | preproc_ifdef)+ preproc_call? $end
preproc_ifdef/preproc_ifdef: '#ifndef' identifier preproc_ifdef '#endif'
    | $guard struct_specifier ';' preproc_elif '#endif'
    | '#ifdef' identifier preproc_def preproc_else '#endif'
preproc_if: '#if' binary_expression 'newline' (preproc_function_def preproc_elif
    | preproc_include) '#endif'
preproc_else: '#else' (preproc_function_def | preproc_def)
"""

FORMS = {
    "c": forms(C_FAMILY, HINTS, C),
    "cpp": forms(C_FAMILY, HINTS, OBJECTS, CPP),
    "cuda": forms(C_FAMILY, HINTS, OBJECTS, CUDA),
    "glsl": forms(C_FAMILY, GLSL),
    "fortran": forms(FORTRAN, joint="&"),
    "javascript": forms(JAVASCRIPT),
    "julia": forms(JULIA),
    "rust": forms(RUST),
}

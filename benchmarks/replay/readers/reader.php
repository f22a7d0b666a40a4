<?php
// Truth for PHP from the parser of nikic. Needs PHP's command line and that library (Debian: php-cli, php-parser).
// One line of JSON in ({path, text}), one out ({symbols, trouble}); see read_outside.py.
//
// Definitions: classes, interfaces, traits, enums and their cases, methods, properties, class constants, functions and
// constants; a namespace qualifies no name, and a property beside a method of its name is not what it means. Comments, layout, quotes of a string, commas behind the last element and
// redundant parentheses do not count, and `array()` is `[]`, the same node for PHP; heredoc or string does.
require_once 'PhpParser/autoload.php';

use PhpParser\Node;

const BLANK = "\u{b7}";

function short(string $text): string { return substr(hash('sha256', $text), 0, 20); }

// A name of another object or class, not of the definition.
function of_another(Node $node): bool {
    if ($node instanceof Node\Expr\MethodCall || $node instanceof Node\Expr\PropertyFetch) {
        return !($node->var instanceof Node\Expr\Variable && $node->var->name === 'this');
    }
    if ($node instanceof Node\Expr\StaticCall || $node instanceof Node\Expr\StaticPropertyFetch || $node instanceof Node\Expr\ClassConstFetch) {
        return !($node->class instanceof Node\Name && in_array((string) $node->class, ['self', 'static'], true));
    }
    return false;
}

function dump($value, string $own): string {
    if (is_array($value)) {
        $out = '[';
        foreach ($value as $key => $one) {
            if (!($one instanceof Node\Stmt\Nop)) $out .= (is_int($key) ? '' : $key . '=') . dump($one, $own) . ',';
        }
        return $out . ']';
    }
    if (!($value instanceof Node)) return is_string($value) && $own !== '' && $value === $own ? BLANK : json_encode($value, JSON_INVALID_UTF8_SUBSTITUTE);
    $out = '(' . $value->getType();
    if ($value instanceof Node\Scalar\String_ || $value instanceof Node\Scalar\Encapsed) {
        $kind = $value->getAttribute('kind');
        if ($kind === Node\Scalar\String_::KIND_HEREDOC || $kind === Node\Scalar\String_::KIND_NOWDOC) $out .= '/' . $kind;
    }
    if ($value instanceof Node\Expr\Exit_) $out .= '/' . $value->getAttribute('kind');
    $other = of_another($value);
    foreach ($value->getSubNodeNames() as $name) $out .= ' ' . $name . ':' . dump($value->$name, $other && $name === 'name' ? '' : $own);
    return $out . ')';
}

function add(array &$found, Node $node, string $name, string $kind, string $own, bool $body, string $head = ''): void {
    $found[] = [$name, $kind, $node->getStartLine(), $node->getEndLine(), short($head . dump($node, '')), short($head . dump($node, $own)), $body];
}

// A property or constant of several is its own part and what it shares with the others.
function each(array &$found, Node $node, array $parts, string $prefix, string $kind): void {
    foreach ($parts as $part) {
        $own = $part->name->name ?? (string) $part->name;
        $head = '';
        if (count($parts) > 1) {
            foreach ($node->getSubNodeNames() as $key) if ($key !== 'props' && $key !== 'consts') $head .= dump($node->$key, '');
        }
        add($found, count($parts) > 1 ? $part : $node, $prefix . $own, $kind, $own, $kind !== 'property', $head);
    }
}

function visit(array &$found, $value, string $prefix): void {
    if (is_array($value)) { foreach ($value as $one) visit($found, $one, $prefix); return; }
    if (!($value instanceof Node)) return;
    $inner = $prefix;
    if ($value instanceof Node\Stmt\ClassLike && $value->name !== null) {
        add($found, $value, $prefix . $value->name->name, 'class', $value->name->name, true);
        $inner = $prefix . $value->name->name . '.';
    } elseif ($value instanceof Node\Stmt\ClassMethod || $value instanceof Node\Stmt\Function_) {
        $kind = $value instanceof Node\Stmt\Function_ ? 'function' : 'method';
        add($found, $value, $prefix . $value->name->name, $kind, $value->name->name, $value->stmts !== null);
        $inner = $prefix . $value->name->name . '.';
    } elseif ($value instanceof Node\Stmt\EnumCase) {
        add($found, $value, $prefix . $value->name->name, 'const', $value->name->name, true);
    } elseif ($value instanceof Node\Stmt\Property) {
        each($found, $value, $value->props, $prefix, 'property');
    } elseif ($value instanceof Node\Stmt\ClassConst || $value instanceof Node\Stmt\Const_) {
        each($found, $value, $value->consts, $prefix, 'const');
    }
    foreach ($value->getSubNodeNames() as $name) visit($found, $value->$name, $inner);
}

$lexer = new PhpParser\Lexer\Emulative(['usedAttributes' => ['comments', 'startLine', 'endLine']]);
$parser = (new PhpParser\ParserFactory)->create(PhpParser\ParserFactory::PREFER_PHP7, $lexer);
while (($row = fgets(STDIN)) !== false) {
    $asked = json_decode($row, true);
    $answer = ['symbols' => [], 'trouble' => ''];
    try {
        visit($answer['symbols'], $parser->parse($asked['text']), '');
    } catch (PhpParser\Error $error) {
        $answer = ['symbols' => [], 'trouble' => $error->getMessage()];
    }
    echo json_encode($answer, JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}

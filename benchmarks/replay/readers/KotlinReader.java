import java.io.*;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.*;
import org.jetbrains.kotlin.cli.common.messages.MessageCollector;
import org.jetbrains.kotlin.cli.jvm.compiler.*;
import com.intellij.openapi.util.Disposer;
import com.intellij.psi.*;
import com.intellij.psi.util.PsiTreeUtil;
import org.jetbrains.kotlin.config.*;
import org.jetbrains.kotlin.lexer.KtTokens;
import org.jetbrains.kotlin.psi.*;

/**
 * Truth for Kotlin from the compiler's own parser. Needs a JDK and the npm package kotlin-compiler.
 * One line of JSON in ({path, text}), one out ({symbols, trouble}); see read_outside.py.
 *
 * Definitions: classes, interfaces, objects, enum entries, functions (also local ones), properties of files and
 * classes, secondary constructors (as "constructor") and type aliases. A companion object defines and qualifies
 * nothing. Comments, layout, semicolons, commas behind the last element and parentheses around an expression do not count.
 */
class KotlinReader {
  static final String BLANK = "\u00b7";

  static void dump(PsiElement node, String own, StringBuilder out) {
    if (node instanceof PsiWhiteSpace || node instanceof PsiComment) return;
    PsiElement child = node.getFirstChild();
    if (child == null) {
      String text = node.getText();
      var type = node.getNode().getElementType();
      if (text.isEmpty() || type == KtTokens.SEMICOLON) return;
      if (type == KtTokens.COMMA && isLast(node)) return;
      out.append(' ').append(!own.isEmpty() && text.equals(own) && !isOfAnother(node) ? BLANK : text.length() + ":" + text);
      return;
    }
    boolean bare = node instanceof KtParenthesizedExpression;
    if (!bare) out.append('(').append(node.getNode().getElementType());
    for (; child != null; child = child.getNextSibling()) {
      var type = child.getNode().getElementType();
      if (bare && (type == KtTokens.LPAR || type == KtTokens.RPAR)) continue;
      dump(child, own, out);
    }
    if (!bare) out.append(')');
  }

  /** Behind a dot a name belongs to another object, unless that is `this`. */
  static boolean isOfAnother(PsiElement leaf) {
    PsiElement node = leaf.getParent();
    if (node != null && node.getParent() instanceof KtCallExpression) node = node.getParent();
    return node != null && node.getParent() instanceof KtQualifiedExpression outer && outer.getSelectorExpression() == node
        && !(outer.getReceiverExpression() instanceof KtThisExpression);
  }

  static boolean isLast(PsiElement comma) {
    PsiElement next = PsiTreeUtil.skipSiblingsForward(comma, PsiWhiteSpace.class, PsiComment.class);
    if (next == null) return true;
    var type = next.getNode().getElementType();
    return type == KtTokens.RPAR || type == KtTokens.RBRACKET || type == KtTokens.GT || type == KtTokens.ARROW;
  }

  static String hash(String text) throws Exception {
    byte[] sum = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    StringBuilder out = new StringBuilder();
    for (int at = 0; at < 10; at++) out.append(String.format("%02x", sum[at]));
    return out.toString();
  }

  static void visit(PsiElement node, String prefix, int[] starts, List<String> found) throws Exception {
    String name = "", kind = "", inner = prefix;
    boolean body = true;
    if (node instanceof KtSecondaryConstructor one) { name = "constructor"; kind = "method"; }
    else if (node instanceof KtEnumEntry one) { name = one.getName(); kind = "const"; }
    else if (node instanceof KtObjectDeclaration one) { if (!one.isCompanion() && !one.isObjectLiteral()) { name = one.getName(); kind = "class"; } }
    else if (node instanceof KtClass one) { name = one.getName(); kind = "class"; }
    else if (node instanceof KtNamedFunction one) { name = one.getName(); kind = "function"; body = one.hasBody(); }
    else if (node instanceof KtTypeAlias one) { name = one.getName(); kind = "type"; }
    else if (node instanceof KtProperty one && !one.isLocal()) {
      name = one.getName(); kind = "property";
    }
    if (name != null && !name.isEmpty()) {
      StringBuilder whole = new StringBuilder(), blank = new StringBuilder();
      dump(node, "", whole);
      dump(node, node instanceof KtSecondaryConstructor ? "" : name, blank);
      PsiElement first = node.getFirstChild();
      while (first != null && (first instanceof PsiWhiteSpace || first instanceof PsiComment)) first = first.getNextSibling();
      int from = first == null ? node.getTextRange().getStartOffset() : first.getTextRange().getStartOffset();
      found.add("[" + quote(prefix + name) + "," + quote(kind) + "," + line(starts, from) + "," +
          line(starts, node.getTextRange().getEndOffset() - 1) + "," + quote(hash(whole.toString())) + "," + quote(hash(blank.toString())) + "," + body + "]");
      inner = prefix + name + ".";
    }
    for (PsiElement child = node.getFirstChild(); child != null; child = child.getNextSibling()) visit(child, inner, starts, found);
  }

  static int line(int[] starts, int at) {
    int found = Arrays.binarySearch(starts, at);
    return (found < 0 ? -found - 2 : found) + 1;
  }

  static String quote(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char one : text.toCharArray()) {
      if (one == '"' || one == '\\') out.append('\\').append(one);
      else if (one < ' ' || one > '~') out.append(String.format("\\u%04x", (int) one));
      else out.append(one);
    }
    return out.append('"').toString();
  }

  /** The text in one line of JSON; its strings are read, its structure is known. */
  static String textOf(String row) {
    int at = row.indexOf("\"text\": \"") + 9;
    StringBuilder out = new StringBuilder();
    for (; row.charAt(at) != '"'; at++) {
      char one = row.charAt(at);
      if (one != '\\') { out.append(one); continue; }
      one = row.charAt(++at);
      switch (one) {
        case 'n' -> out.append('\n');
        case 't' -> out.append('\t');
        case 'r' -> out.append('\r');
        case 'b' -> out.append('\b');
        case 'f' -> out.append('\f');
        case 'u' -> { out.append((char) Integer.parseInt(row.substring(at + 1, at + 5), 16)); at += 4; }
        default -> out.append(one);
      }
    }
    return out.toString();
  }

  public static void main(String[] arguments) throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err);
    CompilerConfiguration settings = new CompilerConfiguration();
    settings.put(CommonConfigurationKeys.MESSAGE_COLLECTOR_KEY, MessageCollector.Companion.getNONE());
    var environment = KotlinCoreEnvironment.createForProduction(Disposer.newDisposable(), settings, EnvironmentConfigFiles.JVM_CONFIG_FILES);
    KtPsiFactory factory = new KtPsiFactory(environment.getProject(), false);
    BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String row; (row = asked.readLine()) != null; ) {
      String text = textOf(row).replace("\r\n", "\n");
      List<String> found = new ArrayList<>();
      String trouble = "";
      try {
        KtFile file = factory.createFile("read.kt", text);
        PsiErrorElement error = PsiTreeUtil.findChildOfType(file, PsiErrorElement.class);
        List<Integer> starts = new ArrayList<>(List.of(0));
        for (int at = 0; at < text.length(); at++) if (text.charAt(at) == '\n') starts.add(at + 1);
        if (error != null) trouble = error.getErrorDescription();
        else visit(file, "", starts.stream().mapToInt(Integer::intValue).toArray(), found);
      } catch (Exception error) { trouble = error.toString(); found.clear(); }
      answers.println("{\"symbols\":[" + String.join(",", found) + "],\"trouble\":" + quote(trouble) + "}");
      answers.flush();
    }
  }
}

// Truth for Java from javac's own parser and printer: one line of JSON in ({path, text}), one out; see
// read_outside.py. Started from source: java --add-exports jdk.compiler/com.sun.tools.javac.tree=… Reader.java
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.util.JavacTask;
import com.sun.tools.javac.tree.JCTree;
import com.sun.tools.javac.tree.TreeInfo;
import com.sun.tools.javac.tree.TreeTranslator;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

public class Reader {
  static final class Text extends SimpleJavaFileObject {
    private final String text;

    Text(String text) {
      super(URI.create("string:///Read.java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  static final class Bare extends TreeTranslator {
    @Override
    public void visitParens(JCTree.JCParens tree) {
      result = translate(tree.expr);
    }
  }

  static String digest(String text) throws Exception {
    byte[] sum = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < 10; i++) out.append(String.format("%02x", sum[i]));
    return out.toString();
  }

  static String quote(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < 32 || c > 126) out.append(String.format("\\u%04x", (int) c));
      else out.append(c);
    }
    return out.append('"').toString();
  }

  // The value of one key of a flat JSON object of strings.
  static String value(String json, String key) {
    int at = json.indexOf("\"" + key + "\": \"") + key.length() + 5;
    StringBuilder out = new StringBuilder();
    while (json.charAt(at) != '"') {
      char c = json.charAt(at++);
      if (c != '\\') { out.append(c); continue; }
      char e = json.charAt(at++);
      switch (e) {
        case 'n': out.append('\n'); break;
        case 't': out.append('\t'); break;
        case 'r': out.append('\r'); break;
        case 'b': out.append('\b'); break;
        case 'f': out.append('\f'); break;
        case 'u': out.append((char) Integer.parseInt(json.substring(at, at + 4), 16)); at += 4; break;
        default: out.append(e);
      }
    }
    return out.toString();
  }

  static void add(List<String> out, LineMap lines, JCTree.JCCompilationUnit unit, JCTree node, String name, String kind, String own)
      throws Exception {
    long first = lines.getLineNumber(TreeInfo.getStartPos(node));
    long last = lines.getLineNumber(TreeInfo.getEndPos(node, unit.endPositions));
    String text = node.toString();
    String blank = Pattern.compile("(?<![.\\w$])" + Pattern.quote(own) + "(?![\\w$])").matcher(text).replaceAll("\u00b7");
    // A field beside a method of its name is not what the name means.
    boolean bodied = !(node instanceof JCTree.JCVariableDecl)
        && (!(node instanceof JCTree.JCMethodDecl) || ((JCTree.JCMethodDecl) node).body != null);
    out.add("[" + quote(name) + "," + quote(kind) + "," + first + "," + last + "," + quote(digest(text)) + "," + quote(digest(blank)) + "," + bodied + "]");
  }

  static void visit(List<String> out, LineMap lines, JCTree.JCCompilationUnit unit, JCTree node, String prefix, String of) throws Exception {
    if (node instanceof JCTree.JCClassDecl) {
      JCTree.JCClassDecl type = (JCTree.JCClassDecl) node;
      String own = type.name.toString();
      add(out, lines, unit, type, prefix + own, "class", own);
      for (JCTree member : type.defs) visit(out, lines, unit, member, prefix + own + ".", own);
    } else if (node instanceof JCTree.JCMethodDecl) {
      String own = ((JCTree.JCMethodDecl) node).name.toString();
      boolean made = own.equals("<init>");
      add(out, lines, unit, node, prefix + (made ? of : own), "method", made ? of : own);
    } else if (node instanceof JCTree.JCVariableDecl && !of.isEmpty()) {
      String own = ((JCTree.JCVariableDecl) node).name.toString();
      add(out, lines, unit, node, prefix + own, "field", own);
    }
  }

  static String answer(JavaCompiler compiler, String text) throws Exception {
    DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
    JavacTask task = (JavacTask) compiler.getTask(null, null, said, List.of("-proc:none", "-Xjcov"), null, List.of(new Text(text)));
    CompilationUnitTree read = task.parse().iterator().next();
    for (Diagnostic<?> one : said.getDiagnostics()) {
      if (one.getKind() == Diagnostic.Kind.ERROR) {
        return "{\"symbols\": [], \"trouble\": " + quote(one.getMessage(null)) + "}";
      }
    }
    JCTree.JCCompilationUnit unit = (JCTree.JCCompilationUnit) read;
    new Bare().translate(unit.defs);
    List<String> out = new ArrayList<>();
    for (JCTree node : unit.defs) visit(out, read.getLineMap(), unit, node, "", "");
    return "{\"symbols\": [" + String.join(",", out) + "], \"trouble\": \"\"}";
  }

  public static void main(String[] arguments) throws Exception {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, true, "UTF-8");
    for (String row = in.readLine(); row != null; row = in.readLine()) {
      String said;
      try {
        said = answer(compiler, value(row, "text"));
      } catch (Exception | StackOverflowError | AssertionError error) {
        said = "{\"symbols\": [], \"trouble\": " + quote(String.valueOf(error)) + "}";
      }
      out.println(said);
    }
  }
}

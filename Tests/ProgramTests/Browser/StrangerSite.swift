import Foundation
import Synchronization
import TestSupport

/// A stranger's site, on a port of this machine: for browsers another origin, and by the name `localhost` another site.
final class StrangerSite: Sendable {
    /// What it shows, wherever it is asked.
    private final class Page: Sendable {
        let html = Mutex("")
    }

    private let page: Page
    private let server: ScriptedServer

    init() throws {
        let page = Page()
        self.page = page
        server = try ScriptedServer { _ in
            let html = page.html.withLock { $0 }
            return .bytes(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\n"
                    + "Content-Length: \(html.utf8.count)\r\nConnection: close\r\n\r\n\(html)")
        }
    }

    /// From now on it shows this.
    func show(_ html: String) { page.html.withLock { $0 = "<!doctype html>\n\(html)" } }

    /// Where it is.
    func url(of host: String = "127.0.0.1") -> String { "http://\(host):\(server.port)/" }

    func stop() { server.stop() }

    /// A text within a page or an attribute.
    static func escaped(_ text: String) -> String {
        [("&", "&amp;"), ("<", "&lt;"), ("\"", "&quot;")].reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
}

import AppStorePayloads
import AuditStore
import Base
import Foundation
import Postgres
import TestSupport
import Testing

/// Other sites in the browser of a member who is logged in at the desk.
@Suite("Other sites beside the desk", .serialized)
struct BrowserForgeryTests {
    /// A form of a page as a browser would send it.
    private struct SentForm {
        var action: String
        var fields: [(name: String, value: String)]

        /// Forms of one kind do the same to different things.
        var kind: String {
            let what = fields.first { $0.name == "what" }?.value ?? ""
            return "\(PageWalk.kind(URLComponents(string: action)?.path ?? "")) \(what)"
        }

        /// All forms of the page that is shown, with the mark that they carry.
        static func all(_ browser: WebBrowser) async throws -> [SentForm] {
            let found = try await browser.run(
                """
                return Array.from(document.forms).filter((form) => form.method === "post")
                    .map((form) => ({ action: form.action, fields: Array.from(new FormData(form)) }));
                """)
            return (found.elements ?? []).compactMap(\.object).map { form in
                let fields = (form["fields"]?.elements ?? []).map(\.strings).filter { $0.count == 2 }
                return SentForm(
                    action: form.string("action") ?? "", fields: fields.map { (name: $0[0], value: $0[1]) })
            }
        }

        /// The same on a stranger's page, filled in and confirmed.
        func written(_ id: String) -> String {
            let own = fields.filter { !["confirmed", "once", "reason"].contains($0.name) }
            let more = [(name: "confirmed", value: "yes"), (name: "reason", value: "why")]
            let inputs = (own + more).map { field in
                let (name, value) = (StrangerSite.escaped(field.name), StrangerSite.escaped(field.value))
                return "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
            }
            return "<form method=\"post\" action=\"\(StrangerSite.escaped(action))\">\(inputs.joined())"
                + "<button id=\"\(id)\">win</button></form>"
        }
    }

    @Test(
        "get nothing done by any form of any page, not even with the mark of that very form; nor by a script",
        .inBrowser)
    func forgery() async throws {
        try await BrowserDesk.with { desk in
            try await desk.askForRefund(of: desk.ada)
            try await desk.browse { browser in
                var forms: [String: SentForm] = [:]
                try await PageWalk.walk(browser) { _ in
                    for form in try await SentForm.all(browser) { forms[form.kind] = form }
                }
                #expect(forms.count >= 15, "\(forms.keys.sorted())")
                let before = try await AuditLog(desk.site.pool).tail().place
                let stranger = try StrangerSite()
                defer { stranger.stop() }
                let all = forms.values.sorted { $0.kind < $1.kind }
                let page = all.enumerated().map { $1.written("f\($0)") }.joined()
                // For browsers the first is another origin of the same site, and the second another site.
                for host in ["127.0.0.1", "localhost"] {
                    stranger.show(page)
                    for (index, form) in all.enumerated() {
                        try await browser.open(stranger.url(of: host))
                        try await browser.press("#f\(index)")
                        try await eventually("the console answers") { try await browser.url.hasPrefix(desk.origin) }
                        let status = try await browser.status() ?? 0
                        #expect([401, 403].contains(status), "\(host), \(form.kind): \(status)")
                    }
                    try await browser.open(stranger.url(of: host))
                    try await expectNoScript(desk, browser, all)
                }
                let rows = try await AuditLog(desk.site.pool).rows(after: before, through: .max)
                #expect(rows.filter { $0.act != "forbidden" }.isEmpty, "\(rows)")
                // Nor was anybody logged out.
                try await browser.open("/refund-requests/RF-001")
                #expect(try await browser.path == "/refund-requests/RF-001")
                #expect(try await browser.text(of: "main").contains("Pending"))
            }
        }
    }

    /// Neither the pages nor the admin API answer a script of this page's.
    private func expectNoScript(
        _ desk: BrowserDesk, _ browser: WebBrowser, _ forms: [SentForm]
    ) async throws {
        let mark = forms.flatMap(\.fields).first { $0.name == "csrf" }?.value ?? ""
        for (path, body) in [
            ("/admin/subscriptions/\(desk.bob.name)/grant", #"{"tier": "premium", "days": 30, "reason": "why"}"#),
            ("\(desk.bob.page)/act", "what=grant&tier=premium&days=30&reason=why&confirmed=yes&csrf=\(mark)"),
        ] {
            for (mode, type) in [("cors", "application/json"), ("cors", "text/plain"), ("no-cors", "text/plain")] {
                let answer = try await browser.run(
                    """
                    const headers = { "Content-Type": arguments[3] };
                    if (arguments[2] === "cors") headers["X-CSRF-Token"] = arguments[4];
                    return fetch(arguments[0], { method: "POST", mode: arguments[2], credentials: "include", headers, body: arguments[1] })
                        .then((answer) => answer.type + answer.status, (error) => error.name);
                    """, .string(desk.origin + path), .string(body), .string(mode), .string(type), .string(mark))
                #expect(["TypeError", "opaque0"].contains(answer.string ?? ""), "\(path): \(answer.string ?? "-")")
            }
        }
        let read = try await browser.run(
            """
            return fetch(arguments[0], { credentials: "include" }).then((answer) => answer.text(), (error) => error.name);
            """, .string(desk.origin + "/customers"))
        #expect(read.string == "TypeError")
    }

    @Test("have no page of the desk in a frame, of the same site or of another one", .inBrowser)
    func frames() async throws {
        try await BrowserDesk.with { desk in
            try await desk.browse { browser in
                let stranger = try StrangerSite()
                defer { stranger.stop() }
                for place in ["/", desk.bob.page, "/login", "/console.css", "/no-such-page"] {
                    stranger.show("<title>prize</title><iframe src=\"\(desk.origin)\(place)\"></iframe>")
                    for host in ["127.0.0.1", "localhost"] {
                        _ = try await browser.consoleLines()
                        try await browser.open(stranger.url(of: host))
                        try await eventually("\(place) is not shown in a frame of \(host)") {
                            try await browser.consoleLines().contains { $0.contains("frame-ancestors") }
                        }
                    }
                }
            }
        }
    }

    @Test(
        "cannot choose the session of somebody who logs in, and its cookie is for the console's own pages alone",
        .inBrowser)
    func cookies() async throws {
        try await BrowserDesk.with { desk in
            try await WebBrowser.with(desk.origin) { browser in
                try await browser.open("/login")
                let planted = String(repeating: "planted0", count: 6)
                try await browser.plant("storehook-plain", planted)
                try await desk.logIn(browser)
                let cookie = try #require(try await browser.cookies.first { $0.name == "storehook-plain" })
                #expect(cookie.value != planted && cookie.isForHTTPOnly && cookie.sameSite == "Strict", "\(cookie)")
                #expect(cookie.path == "/" && !cookie.isSecure, "\(cookie)")
                #expect(try await browser.run("return document.cookie").string?.contains("storehook-plain=") == false)
                let thief = DeskBrowser(port: desk.port, [("Cookie", "storehook-plain=\(planted)")])
                #expect(try await thief.get("/orders").status == 303)
                // This machine by a stranger's name, as after a rebinding of that name.
                try await browser.open("http://\(WebBrowser.otherName):\(desk.port)/login")
                #expect(try await browser.status() == 403)
            }
        }
    }

    @Test("get no cookie that was made over TLS: its name is the host's, and plain HTTP does not take it", .inBrowser)
    func secure() async throws {
        try await BrowserDesk.with { desk in
            let certificate = try ServerCertificate(addresses: [[127, 0, 0, 1]])
            try await CertificateFiles.with(certificate) { files in
                let arguments = [
                    "console", "--port", "0", "--tls-certificate", files.certificateFile, "--tls-key", files.keyFile,
                ]
                try await desk.site.with(arguments, desk.settings) { console in
                    let port = try #require(console.port)
                    let origin = "https://127.0.0.1:\(port)"
                    try await WebBrowser.with(origin, .init(takesAnyCertificate: true)) { browser in
                        try await desk.logIn(browser)
                        let cookie = try #require(try await browser.cookies.first { $0.name == "__Host-storehook" })
                        #expect(cookie.isSecure && cookie.isForHTTPOnly, "\(cookie)")
                        #expect(cookie.sameSite == "Strict" && cookie.path == "/", "\(cookie)")
                        try await browser.open("/orders")
                        #expect(try await browser.path == "/orders")
                        try await browser.open("\(desk.origin)/orders")
                        #expect(try await browser.url.hasPrefix("\(desk.origin)/login"))
                        let thief = DeskBrowser(port: desk.port, [("Cookie", "__Host-storehook=\(cookie.value)")])
                        #expect(try await thief.get("/orders").status == 303)
                    }
                }
            }
        }
    }
}

import Foundation
import Testing

@testable import Postgres

@Suite("A configuration")
struct ConfigurationTests {
    @Test(
        "is read from a URI or from keywords, and never shows the password",
        arguments: [
            "postgresql://me:hunter2@db.example.com:6543/shop?sslmode=require",
            "host=db.example.com port=6543 user=me password=hunter2 dbname=shop sslmode=require",
        ])
    func reading(url: String) throws {
        let configuration = try PostgresConfiguration(url: url)
        #expect(configuration.description == "me@db.example.com:6543/shop")
        #expect(configuration.hosts.first?["sslmode"] == "require")
        #expect(configuration.hosts.first?["password"] == "hunter2")
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped, "\([configuration])"] {
            #expect(!text.contains("hunter2"))
        }
    }

    @Test(
        "that libpq cannot read is refused without being quoted",
        arguments: [
            "", "  ", "postgresql://me:hun%ter2@host/db", "hunter2", "host=h hunter2=x", "postgresql://h/db?hunter2=1",
            "postgresql://me:hunter2@[::1/db", "password='hunter2",
        ])
    func refusing(url: String) throws {
        let error = try #require(throws: PostgresError.self) { try PostgresConfiguration(url: url) }
        #expect(error.kind == .configuration)
        #expect(!String(reflecting: error).contains("hunter2"))
        #expect(!String(reflecting: error).contains("hun%"))
    }

    @Test("notices vanished servers unless the string says otherwise, and always speaks UTF-8")
    func defaults() throws {
        let plain = try #require(try PostgresConfiguration(url: "host=h").hosts.first)
        #expect(plain["keepalives_idle"] == "15")
        #expect(plain["tcp_user_timeout"] == "15000")
        #expect(plain["client_encoding"] == "UTF8")
        #expect(plain["fallback_application_name"] == "storehook")
        let own = try PostgresConfiguration(
            url: "host=h tcp_user_timeout=1 keepalives=0 client_encoding=LATIN1 connect_timeout=7")
        #expect(own.hosts.first?["tcp_user_timeout"] == "1")
        #expect(own.hosts.first?["keepalives"] == "0")
        #expect(own.hosts.first?["client_encoding"] == "UTF8")
        #expect(own.connectTimeout == .seconds(7))
        #expect(try PostgresConfiguration(url: "host=h connect_timeout=0").connectTimeout == .seconds(2))
    }

    @Test("has what a service file and libpq's variables add, and what the string says wins")
    func additions() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "storehook-service-\(UUID().uuidString)")
        try Data(
            """
            [shop]
            host=a,b
            port=1,2
            user=me
            dbname=shop
            sslmode=require
            passfile=/etc/storehook/passwords
            target_session_attrs=primary
            connect_timeout=7
            """.utf8
        ).write(to: file)
        let variables = ["PGSERVICEFILE": file.path, "PGAPPNAME": "till", "PGUSER": "somebody"]
        for (name, value) in variables { setenv(name, value, 1) }
        defer {
            for name in variables.keys { unsetenv(name) }
            try? FileManager.default.removeItem(at: file)
        }
        let configuration = try PostgresConfiguration(url: "service=shop password=hunter2 sslmode=verify-full")
        #expect(configuration.hosts.map { $0["host"] } == ["a", "b"])
        #expect(configuration.hosts.map { $0["port"] } == ["1", "2"])
        // A service's word comes before a variable's, and the string's before both.
        let expected = [
            "user": "me", "dbname": "shop", "sslmode": "verify-full", "passfile": "/etc/storehook/passwords",
            "application_name": "till", "target_session_attrs": "primary", "password": "hunter2", "service": nil,
        ]
        for (keyword, value) in expected { #expect(configuration.hosts.first?[keyword] == value, "\(keyword)") }
        #expect(configuration.connectTimeout == .seconds(7) && configuration.wantedSessions == [nil])
        #expect(try PostgresConfiguration(url: "service=shop").hosts.first?["sslmode"] == "require")
        // Without a service nothing is made up.
        let plain = try PostgresConfiguration(url: "host=h")
        #expect(plain.hosts.first?["user"] == "somebody" && plain.hosts.first?["target_session_attrs"] == nil)
        #expect(plain.hosts.first?["port"] == nil && plain.hosts.first?["sslmode"] == nil)
    }

    @Test("of several hosts gives each its own turn")
    func severalHosts() throws {
        let two = try PostgresConfiguration(url: "postgresql://a:1,b:2/db").hosts
        #expect(two.map { $0["host"] } == ["a", "b"])
        #expect(two.map { $0["port"] } == ["1", "2"])
        let onePort = try PostgresConfiguration(url: "host=a,b port=7").hosts
        #expect(onePort.map { $0["port"] } == ["7", "7"])
        #expect(throws: PostgresError.self) { try PostgresConfiguration(url: "host=a,b,c port=1,2") }
    }
}

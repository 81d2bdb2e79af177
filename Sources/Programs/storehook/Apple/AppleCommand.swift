import ArgumentParser

struct AppleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apple",
        abstract: "Ask Apple's App Store Server API; what is signed in an answer is verified before it is shown.",
        discussion: """
            Needs an In-App Purchase key: STOREHOOK_APPLE_KEYS, or APPLE_ISSUER_ID, APPLE_KEY_ID and APPLE_PRIVATE_KEY for a
            single app. Where --environment is not given, Production is asked first and then Sandbox.

            Example: storehook apple status 2000000123456789
            """,
        subcommands: [
            AppleStatusCommand.self, AppleHistory.self, AppleTransaction.self, AppleAppTransaction.self,
            AppleRefunds.self, AppleLookup.self, AppleNotifications.self, AppleTest.self, AppleExtend.self,
            AppleExtendAll.self, AppleExtendAllStatus.self, AppleSetAccountToken.self, AppleConsumption.self,
            AppleFinish.self,
        ])
}

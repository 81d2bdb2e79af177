extension Commission {
    /// The table that counts until the operator applies one.
    package static let standard: Commission = {
        // A test reads the text below.
        do { return try Commission(yaml: standardText) } catch {
            return Commission(memberships: [], rates: [], taxes: [])
        }
    }()

    /// ``standard``, as a file.
    package static let standardText = """
        # What Apple keeps of a price, by what it published:
        # - 30 % since the App Store opened on 2008-07-10;
        # - 15 % of subscriptions after a year of paid service since 2016-06-13
        #   (https://developer.apple.com/app-store/subscriptions/);
        # - 15 % in the Small Business Program since 2021-01-01
        #   (https://developer.apple.com/app-store/small-business-program/);
        # - 25 % and 12 % in China mainland since 2026-03-15 (https://developer.apple.com/news/).
        # Say by which terms your apps are sold, from which day on:
        #   program:
        #     - {from: 2021-01-01, program: small_business}
        # And what of the customers' prices is tax, as a share of the price that they pay:
        #   taxes:
        #     - {from: 2021-01-01, storefronts: [DEU], included: 15.966%}
        rates:
          - {from: 2008-07-10, first_year: 30%}
          - {from: 2016-06-13, first_year: 30%, later_years: 15%}
          - {from: 2021-01-01, program: small_business, first_year: 15%}
          - {from: 2026-03-15, storefronts: [CHN], first_year: 25%, later_years: 12%}
          - {from: 2026-03-15, storefronts: [CHN], program: small_business, first_year: 12%}

        """
}
